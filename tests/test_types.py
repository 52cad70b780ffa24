"""Which types travel between steps, how their values are written, and what is said of those that do not."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import uuid
from types import FunctionType, GenericAlias
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    TypedDict,
    TypeVar,
    Union,
    cast,
)

import pytest
from typing_extensions import TypeAliasType

from flowdsl.values import types as t
from flowdsl.values.lift import fits
from flowdsl.values.signature import read
from flowdsl.values.textual import ROWS
from tests.snippets import HEAD, compile_body, compile_text, marked, plain, whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Metrics(TypedDict):
    loss: float
    note: NotRequired[str]


class WithFile(TypedDict):
    model: pathlib.Path


class Mode(enum.Enum):
    FAST = 1


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Derived(Pair):
    pass


@dataclasses.dataclass
class Score:
    loss: float
    rows: list[int] = dataclasses.field(default_factory=list[int])


@dataclasses.dataclass
class Better(Score):
    name: str = "n"


class Undecorated(Score):
    pass


@dataclasses.dataclass
class Files:
    model: pathlib.Path
    scores: list[Score]


@dataclasses.dataclass
class Itself:
    inner: Itself | None


@dataclasses.dataclass
class Late:
    value: int = dataclasses.field(init=False)


@dataclasses.dataclass
class Once:
    value: int
    source: dataclasses.InitVar[str]


T = TypeVar("T")
K = TypeVar("K")


@dataclasses.dataclass
class Box(Generic[T]):
    item: T
    others: list[T] = dataclasses.field(default_factory=list[T])


@dataclasses.dataclass
class Keyed(Box[K | None], Generic[K, T]):
    table: dict[str, T] = dataclasses.field(default_factory=dict[str, T])


@dataclasses.dataclass
class Known(Box[int]):
    pass


class Both(NamedTuple, Generic[T, K]):
    one: T
    other: K


@dataclasses.dataclass
class Tree(Generic[T]):
    item: T
    inner: Tree[T] | None


UserId = NewType("UserId", int)
Alias = TypeAliasType("Alias", list[int])
Table = TypeAliasType("Table", dict[str, tuple[K, T]], type_params=(T, K))

PAIR = t.Record(Pair, (t.Field("left", t.INT, True), t.Field("right", t.TEXT, False)))


def box(cls: type[Any], item: t.Type, *arguments: t.Type, more: tuple[t.Field, ...] = ()) -> t.Record:
    fields = (t.Field("item", item, True), t.Field("others", t.Sequence(item), False), *more)
    return t.Record(cls, fields, arguments)


SCORE = t.Record(Score, (t.Field("loss", t.FLOAT, True), t.Field("rows", t.Sequence(t.INT), False)))

DATE, TIME, DATETIME, SPAN, IDENTITY, AMOUNT = ROWS

TRAVEL: list[tuple[Any, t.Type, str]] = [
    (str, t.TEXT, "str"),
    (int, t.INT, "int"),
    (float, t.FLOAT, "float"),
    (bool, t.BOOL, "bool"),
    (None, t.NONE, "None"),
    (pathlib.Path, t.FILE, "Path"),
    (datetime.date, DATE, "date"),
    (
        Metrics,
        t.Entries(Metrics, (t.Field("loss", t.FLOAT, True), t.Field("note", t.TEXT, False))),
        "Metrics",
    ),
    (datetime.time, TIME, "time"),
    (dict[datetime.date, int], t.Mapping(t.INT, DATE), "dict[date, int]"),
    (datetime.datetime | None, t.Maybe(DATETIME), "datetime | None"),
    (datetime.timedelta, SPAN, "timedelta"),
    (list[uuid.UUID], t.Sequence(IDENTITY), "list[UUID]"),
    (
        dict[decimal.Decimal, decimal.Decimal | None],
        t.Mapping(t.Maybe(AMOUNT), AMOUNT),
        "dict[Decimal, Decimal | None]",
    ),
    (pathlib.PurePosixPath, t.FILE, "Path"),
    (Any, t.JSON, "Any"),
    (object, t.JSON, "Any"),
    (list, t.Sequence(t.JSON), "list[Any]"),
    (dict, t.Mapping(t.JSON), "dict[str, Any]"),
    (list[int], t.Sequence(t.INT), "list[int]"),
    (dict[str, list[float]], t.Mapping(t.Sequence(t.FLOAT)), "dict[str, list[float]]"),
    (tuple[pathlib.Path, float], t.Fixed((t.FILE, t.FLOAT)), "tuple[Path, float]"),
    (tuple[()], t.Fixed(()), "tuple[]"),
    (tuple[int, ...], t.Sequence(t.INT, True), "tuple[int, ...]"),
    (dict[str, tuple[Pair, ...]], t.Mapping(t.Sequence(PAIR, True)), "dict[str, tuple[Pair, ...]]"),
    (str | None, t.Maybe(t.TEXT), "str | None"),
    (Optional[int], t.Maybe(t.INT), "int | None"),  # noqa: UP045 -- the old spelling is read too
    (Union[None, float], t.Maybe(t.FLOAT), "float | None"),  # noqa: UP007
    (Literal["a", "b"], t.Choice(("a", "b")), "Literal['a', 'b']"),
    (Literal[1, True, "a"], t.Choice((1, True, "a")), "Literal[1, True, 'a']"),
    (Literal["a", None], t.Maybe(t.Choice(("a",))), "Literal['a'] | None"),
    (Mode, t.Enumeration(Mode), "Mode"),
    (Pair, PAIR, "Pair"),
    (Derived, t.Record(Derived, PAIR.fields), "Derived"),
    (Score, SCORE, "Score"),
    (Better, t.Record(Better, (*SCORE.fields, t.Field("name", t.TEXT, False))), "Better"),
    (dict[str, Score], t.Mapping(SCORE), "dict[str, Score]"),
    (Annotated[int, "at least 1"], t.INT, "int"),
    (UserId, t.INT, "int"),
    (Alias, t.Sequence(t.INT), "list[int]"),
    (Table[int, str], t.Mapping(t.Fixed((t.TEXT, t.INT))), "dict[str, tuple[str, int]]"),
    (Box[int], box(Box, t.INT, t.INT), "Box[int]"),
    (Box[list[Pair]], box(Box, t.Sequence(PAIR), t.Sequence(PAIR)), "Box[list[Pair]]"),
    (Known, box(Known, t.INT), "Known"),
    (
        Keyed[int, float],
        box(Keyed, t.Maybe(t.INT), t.INT, t.FLOAT, more=(t.Field("table", t.Mapping(t.FLOAT), False),)),
        "Keyed[int, float]",
    ),
    (
        Both[pathlib.Path, Box[int]],
        t.Record(
            Both,
            (t.Field("one", t.FILE, True), t.Field("other", box(Box, t.INT, t.INT), True)),
            (t.FILE, box(Box, t.INT, t.INT)),
        ),
        "Both[Path, Box[int]]",
    ),
]


@pytest.mark.parametrize(("annotation", "kind", "spelled"), TRAVEL, ids=[spelled for *_, spelled in TRAVEL])
def test_a_type_that_travels(annotation: Any, kind: t.Type, spelled: str) -> None:
    assert t.describe(annotation) == kind
    assert t.spell(kind) == spelled


STAY: list[tuple[Any, str]] = [
    (fractions.Fraction, "use str"),
    (WithFile, "is a NamedTuple or a dataclass"),
    (dict[datetime.date, pathlib.Path], "files have names"),
    (collections.abc.Sequence[int], "list[...]"),
    (collections.abc.Mapping[str, int], "dict[str, ...]"),
    (bytes, "annotate that as Path"),
    (complex, "use str"),
    (set[int], "JSON has no sets"),
    (tuple, "NamedTuple or a dataclass"),
    (tuple[pathlib.Path, ...], "use list[...]"),
    (tuple[set[int], ...], "JSON has no sets"),
    (dict[float, str], "texts, whole numbers, dates or members of an Enum"),
    (dict[int, pathlib.Path], "files have names"),
    (int | str, "only `T | None`"),
    (int | str | None, "only `T | None`"),
    (list[set[int]], "JSON has no sets"),
    (bytes | None, "annotate that as Path"),
    (Literal[b"a"], "strings, whole numbers and flags"),
    (Literal[Mode.FAST], "strings, whole numbers and flags"),
    (Undecorated, "NamedTuple or a dataclass"),
    (Itself, "contains itself"),
    (Tree[int], "contains itself"),
    (Box, "may stand for any type"),
    (Box[set[int]], "JSON has no sets"),
    (Late, "its field `value` has init=False: make it a property, or a field that is given"),
    (Once, "it has an InitVar"),
    ("int", "JSON or as a file"),
]


@pytest.mark.parametrize(("annotation", "reason"), STAY, ids=str)
def test_a_type_that_does_not_travel_says_why(annotation: Any, reason: str) -> None:
    kind = t.describe(annotation)
    assert isinstance(kind, t.Unsupported)
    assert reason in kind.reason


def test_what_a_type_holds() -> None:
    holds = [
        t.describe(one)
        for one in (pathlib.Path, list[pathlib.Path], Files, dict[str, Files], tuple[int, pathlib.Path])
    ]
    assert [t.holds_file(one) for one in holds] == [True] * 5
    assert [t.holds_file(t.describe(one)) for one in (str, Score, dict[str, Score], Any)] == [False] * 4
    assert [t.is_text(t.describe(one)) for one in (str, Mode, Literal["a"])] == [True] * 3
    assert [t.is_text(t.describe(one)) for one in (int, str | None, list[str], Literal["a", 1])] == [
        False
    ] * 4
    assert t.outputs(t.describe(None)) == ()
    assert [one.name for one in t.outputs(t.describe(Pair))] == ["left", "right"]
    assert [one.name for one in t.outputs(t.describe(tuple[int, str]))] == ["item-0", "item-1"]
    assert [one.name for one in t.outputs(t.describe(list[int]))] == ["return"]


FITS: list[tuple[Any, Any]] = [
    (int, float),
    (int, int | None),
    (int, float | None),
    (int | None, float | None),
    (list[int], list[float]),
    (dict[str, int], dict[str, float | None]),
    (tuple[int, str], tuple[float, str]),
    (Pair, tuple[int, str]),
    (Derived, Pair),
    (Known, Box[int]),
    (Known, Box[float]),
    (Literal["a"], Literal["a", "b"]),
    (Literal["a"], str),
    (Literal[1, 2], float),
    (Any, int),
    (Any, list[int]),
    (str, Any),
    (Score, object),
    (Mode, Any),
]
MISFITS: list[tuple[Any, Any]] = [
    (float, int),
    (str, int),
    (int, str),
    (int, bool),
    (int | None, int),
    (list[float], list[int]),
    (list[int], dict[str, int]),
    (tuple[int, str], tuple[int]),
    (tuple[int, str], Pair),
    (Pair, Derived),
    (Better, Score),
    (Score, Pair),
    (Box[int], Box[str]),
    (Known, Box[str]),
    (str, Literal["a"]),
    (Literal["a", "c"], Literal["a", "b"]),
    (Literal["a", 1], str),
    (Mode, str),
    (str, Mode),
    (Any, str),
    (Any, pathlib.Path),
    (pathlib.Path, str),
    (str, pathlib.Path),
    (pathlib.Path, Any),
    (Files, object),
]


@pytest.mark.parametrize(("have", "want"), FITS, ids=str)
def test_a_type_that_fits_another(have: Any, want: Any) -> None:
    assert fits(t.describe(have), t.describe(want))


@pytest.mark.parametrize(("have", "want"), MISFITS, ids=str)
def test_a_type_that_does_not_fit_another(have: Any, want: Any) -> None:
    assert not fits(t.describe(have), t.describe(want))


# The argument of the only call: how a value known at compile time is written.
WRITTEN = {
    "use_int(3)": "3",
    "use_int(True)": "1",
    "use_int(10**30)": "1" + 30 * "0",
    "use(-10**400)": "-1" + 400 * "0",
    "use_int(-1)": "-1",
    "use_int(Level.HIGH)": "2",
    "use_float(1)": "1.0",
    "use_float(-0.0)": "-0.0",
    "use_float(1e-7)": "1e-07",
    "use_float(0.1 + 0.2)": "0.30000000000000004",
    "use_bool(False)": "false",
    "use_str('')": "",
    "use_str('é ☃ 1e-5')": "é ☃ 1e-5",
    "use_str('a\\tb\\nc')": "a\tb\nc",
    "use_str('$HOME $(X) }} {x}')": "$HOME $(X) }} {x}",
    "use_str(Name.FIRST)": "first value",
    "use_mode(Mode.SLOW)": "SLOW",
    "use_level(Level.HIGH)": "HIGH",
    "use_access(Access.READ)": "READ",
    "use_choice('sgd')": "sgd",
    "use_list([])": "[]",
    "use_list((1, 2))": "[1, 2]",
    "use_floats([1, 2.5])": "[1.0, 2.5]",
    "use_texts(['{{ name }}', '$$', '\\x07'])": '["\\u007b\\u007b name }}", "\\u0024\\u0024", "\\u0007"]',
    "use_dict({})": "{}",
    "use_dict({'a b': 1})": '{"a b": 1}',
    "use_optional(None)": "null",
    "use_optional('x')": '"x"',
    "use_optional('{{x')": '"\\u007b\\u007bx"',
    "use(None)": "null",
    "use({})": "{}",
    "use([])": "[]",
    "use('x')": '"x"',
    "use({'a': [1, 2.5, None, True, {'b': 'c'}]})": '{"a": [1, 2.5, null, true, {"b": "c"}]}',
    "use(Level.HIGH)": "2",
    "use_tuple((1, 'a'))": '[1, "a"]',
    "use_pair(Pair(1, 'a'))": '{"left": 1, "right": "a"}',
    "use_score(Score(1))": '{"loss": 1.0, "rows": [], "_hidden": 0}',
    "use_report(Report(Score(1, [2]), [Pair(3, 'x')], {'a': Score(0.5)}))": (
        '{"best": {"loss": 1.0, "rows": [2], "_hidden": 0}, "pairs": [{"left": 3, "right": "x"}], '
        '"by_name": {"a": {"loss": 0.5, "rows": [], "_hidden": 0}}, "mode": "FAST"}'
    ),
    "use_path(DATA / 'raw' / 'x.txt')": "/flowdsl/volumes/datasets/raw/x.txt",
    "use_path(DATA / Path('raw') / 'x.txt')": "/flowdsl/volumes/datasets/raw/x.txt",
    # and of one that Python built from values of the run
    "use_score(Score(x, [n]))": (
        '{"loss": {{inputs.parameters.x}}, "rows": [{{inputs.parameters.n}}], "_hidden": 0}'
    ),
    "use_report(Report(score(), [pair()], {'a': Score(x)}, mode))": (
        '{"best": {"loss": {{tasks.score.outputs.parameters.loss}}, "rows": {{tasks.score.outputs.parameters.rows}}, '
        '"_hidden": {{tasks.score.outputs.parameters._hidden}}}, '
        '"pairs": [{"left": {{tasks.pair.outputs.parameters.left}}, '
        "\"right\": {{=toJSON(tasks['pair'].outputs.parameters['right'])}}}], "
        '"by_name": {"a": {"loss": {{inputs.parameters.x}}, "rows": [], "_hidden": 0}}, '
        "\"mode\": {{=toJSON(inputs.parameters['mode'])}}}"
    ),
    "use_tuple(pair())": (
        "[{{tasks.pair.outputs.parameters.left}}, {{=toJSON(tasks['pair'].outputs.parameters['right'])}}]"
    ),
    "use_float(report().best.loss)": ("{{=fromJSON(tasks['report'].outputs.parameters['best'])['loss']}}"),
    "use_float(report().by_name['a'].loss)": (
        "{{=fromJSON(tasks['report'].outputs.parameters['by_name'])['a']['loss']}}"
    ),
    "use_int(report().pairs[0].left)": whole(
        "fromJSON(tasks['report'].outputs.parameters['pairs'])[0]['left']"
    ),
    "use_found(Pair(n, 'x'))": '{"left": {{inputs.parameters.n}}, "right": "x"}',
    "use_found(None)": "null",
    "use_mode(report().mode)": "{{tasks.report.outputs.parameters.mode}}",
}


@pytest.mark.parametrize("body", WRITTEN)
def test_a_value_is_written_as_its_type_says(body: str, tmp_path: Path) -> None:
    before = """
        @step(image="i:1")
        def use_found(v: Pair | None) -> None: ...
    """
    found = compile_body(tmp_path, body, before)
    assert found.messages() == []
    assert found.argument() == WRITTEN[body]


# Values that a parameter does not accept: the code, and the place of the argument.
WRONG = [
    ("FD205", "use_int(«'a'»)"),
    ("FD205", "use_int(v=«1.5»)"),
    ("FD205", "use_int(«None»)"),
    ("FD205", "use_int(«math.nan»)"),
    ("FD205", "use_int(«x»)"),
    ("FD205", "use_int(«s»)"),
    ("FD205", "use_int(«optn»)"),
    ("FD205", "use_int(«nothing()»)"),
    ("FD380", "use(«nothing()»)"),
    ("FD380", "use_optional(«nothing()»)"),
    ("FD205", "use_bool(«1»)"),
    ("FD205", "use_bool(«n»)"),
    ("FD205", "use_str(«1»)"),
    ("FD205", "use_str(«n»)"),
    ("FD205", "use_str(«mode»)"),
    ("FD205", "use_str(«a_file()»)"),
    ("FD205", "use_str(«DATA / 'a'»)"),
    ("FD205", "use_mode(«'FAST'»)"),
    ("FD205", "use_mode(«Other.FAST»)"),
    ("FD205", "use_access(«Access.READ | Access.WRITE»)"),
    ("FD205", "use_choice(«'rmsprop'»)"),
    ("FD205", "use_choice(«s»)"),
    ("FD205", "use_list(«1»)"),
    ("FD205", "use_list([1, «'a'»])"),
    ("FD205", "use_list([n, «s»])"),
    ("FD205", "use_list(«{1}»)"),
    ("FD205", "use_texts(«'abc'»)"),
    ("FD205", "use_dict(«{1: 2}»)"),
    ("FD205", "use_dict(«[]»)"),
    ("FD205", "use_tuple(«(1,)»)"),
    ("FD205", "use_tuple((«'a'», 1))"),
    ("FD205", "use_pair(«(1, 'a')»)"),
    ("FD205", "use_pair(«score()»)"),
    ("FD205", "use_score(«Score('a')»)"),
    ("FD205", "use(«object()»)"),
    ("FD205", "use(«{1: 2}»)"),
    ("FD205", "use(«Mode.FAST»)"),
    ("FD205", "use(«train»)"),
    ("FD205", "use(«a_file()»)"),
    ("FD205", "use(«DATA»)"),
    ("FD205", "use_path(«DATA»)"),
    ("FD205", "use_path(«s»)"),
    ("FD221", "use_float(«math.nan»)"),
    ("FD221", "use_float(«-math.inf»)"),
    ("FD221", "use_float(«10**400»)"),
    ("FD221", "use([«math.inf»])"),
    ("FD266", "use_int(«10**5000»)"),
    ("FD266", "use([«10**5000»])"),
    ("FD222", "use_path(«'a/b'»)"),
]


@pytest.mark.parametrize(("code", "body"), WRONG, ids=[f"{code} {plain(body)}" for code, body in WRONG])
def test_a_value_of_another_type_is_reported_at_the_argument(code: str, body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, body + "\nuse_int(«'later'»)")
    assert found.findings() == [(code, *marked(body)), ("FD205", "'later'")]


def test_a_message_spells_types_as_their_author_would(tmp_path: Path) -> None:
    body = """
        use_int("a")
        use_dict([1])
        use_list([1, "a", None])
        use_report(Report(Score(1.0, ["a"]), [], {}))
        use_pair(score())
        use_optional(optn)
        use_mode(Other.FAST)
        use_int(None)
        use_access(Access.READ | Access.WRITE)
    """
    assert compile_body(tmp_path, body).messages() == [
        "`v` of `use_int` is int, not str 'a'",
        "`v` of `use_dict` is dict[str, int], not list",
        "`v` of `use_list` is list[int], not list with str 'a'",
        "`v` of `use_report` is Report, not Report with Score with list with str 'a'",
        "`v` of `use_pair` is Pair, not Score",
        "`v` of `use_optional` is str | None, not int | None",
        "`v` of `use_mode` is Mode, not Other.FAST",
        "`v` of `use_int` is int, not None",
        "`v` of `use_access` is Access, not Access.READ|WRITE",
    ]


DECLARED = """
from __future__ import annotations
import enum, functools
from dataclasses import dataclass
from pathlib import Path
from typing import *
from flowdsl import *

@dataclass
class Bad:
    items: set[int]

@step(image="i:1")
def bad(a: «set[int]», «b», c: «Bad | None», d: int, *«rest»: int, **«named»: int) -> «tuple[Path, ...]»: ...

@step(image="i:1")
def right(a: int) -> int: return a

@pipeline
def main(
    a: int = «"x"», b: int = «None», c: Path = «"x"», d: str = «"{{item}}"», e: float = «float("nan")»,
    f: Literal["a"] = «"b"», g: list[int] = «[1, "a"]», h: str | None = None, i: «bytes» = b"",
) -> None:
    right("later")

@pipeline
def second(a: «complex») -> «bytes»:
    bad(right(1), 2, 3, 4, 5, x=6)
    right.options(name="again")(a)
"""


def test_what_cannot_be_declared_is_reported_once_where_it_is_written(tmp_path: Path) -> None:
    found = compile_text(tmp_path, DECLARED)
    expected = [
        *(("FD286", text) for text in ("set[int]",)),
        ("FD287", "b"),
        ("FD286", "Bad | None"),
        ("FD289", "rest"),
        ("FD289", "named"),
        ("FD286", "tuple[Path, ...]"),
        ("FD238", '"x"'),
        ("FD238", "None"),
        ("FD222", '"x"'),
        ("FD219", '"{{item}}"'),
        ("FD221", 'float("nan")'),
        ("FD238", '"b"'),
        ("FD238", '[1, "a"]'),
        ("FD286", "bytes"),
        ("FD205", '"later"'),
        ("FD286", "complex"),
        ("FD286", "bytes"),
    ]
    assert found.findings() == expected
    assert [text for _, text in expected[:14]] == marked(DECLARED)[:14]


RESULTS = """
@pipeline
def fixed(k: int) -> tuple[int, str]:
    nothing()
    return k, "two"

@pipeline
def named(k: int) -> Pair:
    nothing()
    return Pair(right=word(), left=k)

@pipeline
def handed(k: int) -> Trained:
    return train(0.5)

@pipeline
def parts(k: int) -> Score:
    return Score(share(), [k, number()])

@pipeline
def one(k: int) -> list[int]:
    nothing()
    return [k, 1]

@pipeline
def optional(k: int) -> str | None:
    return note()

@pipeline
def defaults(
    k: int, where: Path = DATA / "a", mode: Mode = Mode.SLOW, label: str | None = None, both: Pair = Pair(1, "q"),
    numbers: list[int] = [], rate: float = 1, table: dict[str, int] = {},
) -> None:
    use_path(where)
    use_mode(mode)
"""


def test_a_called_pipeline_hands_on_records_and_tuples(tmp_path: Path) -> None:
    body = """
        first, second = fixed(n)
        use(first)
        use_str(second)
        use_pair(named(n))
        model, accuracy, notes = handed(n)
        use_path(model)
        use_float(accuracy)
        use_int(notes["depth"])
        found = parts(n)
        use_float.options(name="loss")(found.loss)
        use_list(found.rows)
        use_floats(one(n))
        use_optional(optional(n))
        defaults(n)
    """
    found = compile_body(tmp_path, body, RESULTS)
    assert found.messages() == []
    assert {name: found.argument(name) for name in ("use", "use-str", "loss", "use-list", "use-floats")} == {
        "use": "{{tasks.fixed.outputs.parameters.item-0}}",
        "use-str": "{{tasks.fixed.outputs.parameters.item-1}}",
        "loss": "{{tasks.found.outputs.parameters.loss}}",
        "use-list": "{{tasks.found.outputs.parameters.rows}}",
        "use-floats": "{{tasks.one.outputs.parameters.return}}",
    }
    given = {
        name: found.argument("defaults", name)
        for name in ("mode", "label", "both", "numbers", "rate", "table")
    }
    assert given == {
        "mode": "SLOW",
        "label": "null",
        "both": '{"left": 1, "right": "q"}',
        "numbers": "[]",
        "rate": "1.0",
        "table": "{}",
    }
    assert found.argument("defaults", "where") == "/flowdsl/volumes/datasets/a"


def outputs(text: str, folder: Path) -> dict[str, Any]:
    """The outputs of the pipeline of a file."""
    found = compile_text(folder, text)
    assert found.messages() == []
    (entry, *_) = found.compiled.documents[0]["spec"]["templates"]
    return {one["name"]: one["valueFrom"] for one in entry["outputs"]["parameters"]}


def test_the_results_of_a_root_pipeline_are_its_outputs(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
@pipeline
def main(k: int = 1) -> Report:
    return Report(score(), [pair(), Pair(k, "b")], {}, Mode.SLOW)
"""
    )
    found = outputs(text, tmp_path)
    assert list(found) == ["best", "pairs", "by_name", "mode"]


Described = TypeAliasType("Described", Annotated[float, "by a name"])


def test_the_first_text_beside_a_type_describes_a_parameter() -> None:
    def train(
        plain: float,
        at_once: Annotated[float, "at once"],
        after: Annotated[float, 1, "after a number", "and another text"],
        named: Described,
        other: Annotated[float, 1],
    ) -> None: ...

    told = {name: one.about for name, one in read(cast(FunctionType, train)).by_name.items()}
    assert told == {
        "plain": "",
        "at_once": "at once",
        "after": "after a number",
        "named": "by a name",
        "other": "",
    }


def lazy(meant: Callable[[Any], object]) -> object:
    """A name as `type X = ...` makes it since Python 3.12: what it stands for is evaluated when it is read."""
    return type("TypeAliasType", (), {"__value__": property(meant), "__type_params__": ()})()


def unknown(_: object) -> object:
    raise NameError("name 'Nope' is not defined")


def test_names_of_types_are_read_late() -> None:
    def train(tree: Any, other: Any) -> None: ...

    train.__annotations__.update(tree=lazy(lambda one: GenericAlias(list, one)), other=lazy(unknown))
    found = read(cast(FunctionType, train)).by_name
    kinds = [cast(t.Unsupported, one.type).reason for one in found.values()]
    assert kinds == ["it contains itself", "what it stands for cannot be read: name 'Nope' is not defined"]
    assert [one.about for one in found.values()] == ["", ""]


RETURNS = [
    ("FD236", "def main(k: int = 1) -> «float»:\n    nothing()\n    return 'a'"),
    ("FD236", "def main(k: int = 1) -> «float»:\n    nothing()"),
    ("FD236", "def main(k: int = 1) -> «int»:\n    return share()"),
    ("FD236", "def main(k: int = 1) -> «None»:\n    return number()"),
    ("FD236", "def main(k: int = 1) -> «Pair»:\n    nothing()\n    return k, 'a'"),
    ("FD236", "def main(k: int = 1) -> «tuple[int, str]»:\n    nothing()\n    return k"),
    ("FD237", "def «main»(k: int = 1):\n    return number()"),
    ("FD219", "def main(k: int = 1) -> «str»:\n    nothing()\n    return '{{x'"),
    ("FD219", "def main(k: int = 1) -> «Pair»:\n    nothing()\n    return Pair(1, '{{pod.name}}')"),
    ("FD222", "def main(k: int = 1) -> «Path»:\n    nothing()\n    return Path('a')"),
    ("FD239", "async def «main»(k: int = 1) -> None:\n    nothing()"),
    ("FD239", "def «main»(k: int = 1) -> Any:\n    yield nothing()"),
    ("FD239", "def «main»(k: int = 1) -> collections.abc.Iterator[int]:\n    yield number()"),
]


@pytest.mark.parametrize(("code", "body"), RETURNS, ids=[f"{code} {plain(body)}" for code, body in RETURNS])
def test_what_a_pipeline_returns_is_judged(code: str, body: str, tmp_path: Path) -> None:
    found = compile_text(tmp_path, f"{HEAD}@pipeline\n{body}\n")
    assert found.findings() == [(code, *marked(body))]


RETURNED = [
    "def main() -> None:\n    return nothing()",
    "def main():\n    return nothing()",
    "def main():\n    nothing()",
    "def main() -> list[str]:\n    nothing()\n    return ['{{ x }}']",
    "def main() -> str | None:\n    nothing()\n    return None",
    "def main(k: int = 1) -> float:\n    nothing()\n    return k",
    "def main() -> Path:\n    return a_file()",
]


@pytest.mark.parametrize("body", RETURNED)
def test_what_a_pipeline_may_return(body: str, tmp_path: Path) -> None:
    assert compile_text(tmp_path, f"{HEAD}@pipeline\n{body}\n").messages() == []
