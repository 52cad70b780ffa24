"""Pipelines made up at random: their text, and what Python does with the same statements.

Expressions are texts, which Python evaluates as well: `either` and the fields of what did not run or failed are
those of `Absent`. No statement needs more of the language than a loop, a branch, a sweep and a call.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from flowdsl.values.lift import is_dict, items_of
from tests.end_to_end.pipelines import made_up as steps

Names = dict[str, Any]


class Value(NamedTuple):
    """An expression and its type; `live`: it is not known before the run."""

    source: str
    kind: str
    live: bool = True


class Call(NamedTuple):
    """A call of a step or pipeline."""

    name: str
    target: str
    arguments: dict[str, str]
    after: str | None = None
    may_fail: bool = False

    def lines(self) -> Iterator[str]:
        """Its text."""
        given = [f"after=[{self.after}]"] if self.after else []
        given += ["may_fail=True"] if self.may_fail else []
        options = f".options({', '.join(given)})" if given else ""
        yield f"{self.name} = {self.target}{options}({_given(self.arguments)})"


class Loop(NamedTuple):
    """A call for each item of a list, of two that are walked together, or for each combination; or a sweep."""

    name: str
    target: str
    over: dict[str, str]
    arguments: dict[str, str]
    way: str  # "zip", "grid", "maximize" or "minimize"
    metric: str = ""
    keep_going: bool = False

    def lines(self) -> Iterator[str]:
        """Its text."""
        over = f"{{{', '.join(f'{name!r}: {source}' for name, source in self.over.items())}}}"
        if self.way == "grid":
            over = f"grid({_given(self.over)})"
        word, objective = "fan_out", ""
        if self.way not in ("zip", "grid"):
            word, objective = "sweep", f", objective={self.way}({repr(self.metric) if self.metric else ''})"
        fixed = ", keep_going=True" if self.keep_going else ""
        fixed += f", {_given(self.arguments)}" if self.arguments else ""
        yield f"{self.name} = {word}({self.target}, over={over}{objective}{fixed})"


class Branch(NamedTuple):
    """What runs under a condition, and what runs else."""

    condition: str
    negated: bool
    body: list[Statement]
    other: list[Statement]

    def lines(self) -> Iterator[str]:
        """Its text."""
        yield f"with {'unless' if self.negated else 'when'}({self.condition}):"
        yield from (f"    {line}" for one in self.body for line in one.lines())
        if self.other:
            yield "with otherwise():"
            yield from (f"    {line}" for one in self.other for line in one.lines())


class Ending(NamedTuple):
    """What runs when a task has ended, or only when it has failed."""

    word: str  # "on_exit" or "on_failure"
    task: str
    body: list[Statement]

    def lines(self) -> Iterator[str]:
        """Its text."""
        yield f"with {self.word}({self.task}):"
        yield from (f"    {line}" for one in self.body for line in one.lines())


Statement = Call | Loop | Branch | Ending


class Pipeline(NamedTuple):
    """A pipeline; `result` is what it returns."""

    name: str
    parameters: dict[str, str]
    statements: list[Statement]
    result: Value | None

    def text(self) -> str:
        """Its text."""
        signature = ", ".join(f"{name}: {kind}" for name, kind in self.parameters.items())
        returns = "None" if self.result is None else self.result.kind
        lines = [line for one in self.statements for line in one.lines()]
        lines += [] if self.result is None else [f"return {self.result.source}"]
        body = "".join(f"    {line}\n" for line in lines)
        return f"@pipeline\ndef {self.name}({signature}) -> {returns}:\n{body}\n"


def _given(arguments: dict[str, str]) -> str:
    return ", ".join(f"{name}={source}" for name, source in arguments.items())


# --- made up -----------------------------------------------------------------------------------------


def signatures(module: ModuleType) -> dict[str, tuple[dict[str, str], str]]:
    """The parameters and results of the steps of a module, as they are annotated."""
    return {
        name: (
            {one.name: str(one.annotation) for one in signature.parameters.values()},
            str(signature.return_annotation),
        )
        for name, function in vars(module).items()
        if hasattr(function, "options") and (signature := inspect.signature(function))
    }


class Words(NamedTuple):
    """What pipelines are made of: steps, the types of parameters and results, and how values of a type are made."""

    steps: ModuleType
    signatures: dict[str, tuple[dict[str, str], str]]
    kinds: tuple[str, ...]  # of the parameters of pipelines that are called
    returns: tuple[str, ...]
    parameters: dict[str, str]  # of the entrypoint
    literals: dict[str, tuple[str, ...]]
    searched: dict[str, str]
    parts: dict[str, tuple[tuple[str, str], ...]]
    operators: dict[str, tuple[tuple[str, str], ...]]
    made: dict[str, tuple[str, tuple[str, ...]]]  # the form of a value, and the types of what it is made of
    compared: dict[str, tuple[str, ...]]

    def defaults(self, name: str) -> list[str]:
        """The parameters of a step that have a default."""
        signature = inspect.signature(getattr(self.steps, name))
        return [one.name for one in signature.parameters.values() if one.default is not one.empty]


LITERALS = {
    "int": ("-3", "0", "1", "2", "5", "9"),
    "float": ("0.5", "1e-07", "2.0", "-3.25"),
    "str": ("'x'", "'a b'", '"it\'s"', "''", "'{1}'", "'7'", "'null'"),
    "bool": ("True", "False"),
    "int | None": ("None", "3"),
    "str | None": ("None", "'z'"),
    "float | None": ("None", "0.75"),
    "list[int]": ("[1, 2]", "[3, 1, 2]"),
    "list[str]": ("['p', 'q']", "['1']"),
    "list[float]": ("[0.5, 2.0]",),
    "list[Row]": ("[Row(1, 'l', 0.5), Row(2, 'm', None)]",),
    "Row": ("Row(3, 'known', None)",),
    "dict[str, int]": ("{'a': 1, 'z': 2}",),
    "Mode": ("Mode.FAST", "Mode.EXACT"),
    "date": ("date(2026, 1, 1)", "date(2026, 2, 28)"),
    "Decimal": ("Decimal('1.0')", "Decimal('1.00')", "Decimal('2E+2')"),
    "Decimal | None": ("None", "Decimal('-0.5')"),
    "timedelta": ("timedelta(7)", "timedelta(hours=1, milliseconds=-1)"),
    "UUID": ("UUID(int=1)", "UUID(int=2**127)"),
    "Bill": ("Bill(UUID(int=3), date(2026, 3, 3), None, [timedelta(0)])",),
    "list[date]": ("[date(2026, 1, 1), date(2026, 2, 1)]",),
    "list[Decimal]": ("[Decimal('1.0'), Decimal('1.00')]",),
    "list[timedelta]": ("[timedelta(1), timedelta(minutes=90)]",),
    "list[UUID]": ("[UUID(int=1), UUID(int=5)]",),
    "list[Bill]": (
        "[Bill(UUID(int=4), date(2026, 4, 4), Decimal('0.10'), []), Bill(UUID(int=5), date(2026, 5, 5), None, [])]",
    ),
    "dict[UUID, Decimal]": ("{UUID(int=1): Decimal('9.90')}",),
    "tuple[int, str]": ("(4, 'four')",),
    "Job": ("Job(Mode.FAST, [], {})", "Job(Mode.EXACT, [Row(1, 'k', 0.25)], {Mode.FAST: 'n'}, None, 'high')"),
    "Row | None": ("None", "Row(0, 'zero', None)"),
    "dict[Mode, str]": ("{Mode.FAST: '', Mode.EXACT: 'e'}",),
    "Literal['low', 'high']": ("'low'", "'high'"),
    "list[list[int]]": ("[[1, 2], []]", "[[0]]"),
    "list[Mode]": ("[Mode.EXACT, Mode.FAST]",),
    "list[tuple[int, str]]": ("[(1, 'a'), (2, '{b}')]",),
}
SEARCHED = {
    "int": "[1, 2, 5]",
    "str": "['a', 'b']",
    "float": "[0.5, 2.0]",
    "Mode": "[Mode.FAST, Mode.EXACT]",
    "date": "[date(2026, 5, 5), date(2026, 5, 6)]",
    "Decimal": "[Decimal('3.0'), Decimal('3.50')]",
    "timedelta": "[timedelta(3), timedelta(seconds=5)]",
}
PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "Row": (("{}.size", "int"), ("{}.name", "str"), ("{}.weight", "float | None")),
    "list[Row]": (("{}[0]", "Row"), ("{}[0].name", "str"), ("{}[0].size", "int")),
    "dict[str, int]": (("{}['a']", "int"),),
    "Bill": (
        ("{}.order", "UUID"),
        ("{}.due", "date"),
        ("{}.price", "Decimal | None"),
        ("{}.waits", "list[timedelta]"),
    ),
    "list[Bill]": (("{}[0]", "Bill"), ("{}[0].price", "Decimal | None"), ("{}[0].due", "date")),
    "dict[UUID, Decimal]": (("{}[UUID(int=1)]", "Decimal"),),
    "tuple[int, str]": (("{}[0]", "int"), ("{}[1]", "str"), ("{}[-1]", "str")),
    "Job": (
        ("{}.mode", "Mode"),
        ("{}.rows", "list[Row]"),
        ("{}.notes", "dict[Mode, str]"),
        ("{}.best", "Row | None"),
        ("{}.level", "Literal['low', 'high']"),
    ),
    "dict[Mode, str]": (("{}[Mode.FAST]", "str"),),
    "list[list[int]]": (("{}[0]", "list[int]"),),
    "list[str]": (("{}[0]", "str"),),
    "list[tuple[int, str]]": (("{}[0]", "tuple[int, str]"), ("{}[0][1]", "str")),
}
OPERATORS = {
    "int": (("+", "int"), ("-", "int")),
    "float": (("+", "int"), ("*", "float")),
    "str": (("+", "str"),),
    "bool": (("&", "bool"), ("|", "bool")),
}
MADE = {
    "float": ("({} / 4)", ("int",)),
    "str": ("'{{}}:{{}}'.format({}, {})", ("str", "int")),
    "Row": ("Row({}, {}, {})", ("int", "str", "float | None")),
    "Job": (
        "Job({}, {}, {}, best={}, level={})",
        ("Mode", "list[Row]", "dict[Mode, str]", "Row | None", "Literal['low', 'high']"),
    ),
    "dict[str, int]": ("{{'a': {}, 'y z': {}}}", ("int", "int")),
    "dict[Mode, str]": ("{{Mode.EXACT: {}, Mode.FAST: {}}}", ("str", "str")),
    "tuple[int, str]": ("({}, {})", ("int", "str")),
}
COMPARED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("int", "float", "date", "UUID"), ("<", ">=", "==", "!=")),
    **dict.fromkeys(("str", "Mode"), ("==", "!=")),
}


VALUES = Words(
    steps,
    signatures(steps),
    (
        *("int", "str", "float", "bool", "Row", "int | None", "list[int]", "Mode", "dict[str, int]", "date"),
        *("Decimal", "UUID", "timedelta", "Bill", "dict[UUID, Decimal]", "Decimal | None", "Job"),
        *("tuple[int, str]", "Row | None", "list[list[int]]", "dict[Mode, str]"),
    ),
    ("int", "str", "float", "bool", "Row", "list[int]", "date", "Decimal", "Bill", "Job", "Mode"),
    {
        "n": "int",
        "f": "float",
        "t": "str",
        "b": "bool",
        "xs": "list[int]",
        "m": "int | None",
        "d": "date",
        "p": "Decimal",
        "i": "UUID",
    },
    LITERALS,
    SEARCHED,
    PARTS,
    OPERATORS,
    MADE,
    COMPARED,
)


class Maker:
    """Makes up a pipeline, and those that it calls."""

    def __init__(self, random: Random, words: Words = VALUES) -> None:
        self.random = random
        self.words = words
        self.made: list[Pipeline] = []
        self.count = 0

    def program(self) -> list[Pipeline]:
        """The pipelines; the last one is the entrypoint."""
        for number in range(self.random.choice((0, 0, 1, 1, 2))):
            parameters = {
                f"q{one}": self.random.choice(self.words.kinds) for one in range(self.random.randint(1, 3))
            }
            returns = self.random.choice(self.words.returns)
            self.made.append(self.pipeline(f"sub{number}", parameters, 3, 1, returns))
        self.made.append(self.pipeline("main", self.words.parameters, 6, 2, None))
        return self.made

    def pipeline(
        self, name: str, parameters: dict[str, str], most: int, depth: int, returns: str | None
    ) -> Pipeline:
        """A pipeline with some statements."""
        known = [Value(one, kind) for one, kind in parameters.items()]
        statements = [self.statement(known, depth) for _ in range(self.random.randint(1, most))]
        result = None
        if returns is not None and self.chance(0.3):
            result = self.value(known, returns)
        elif returns is not None:
            simple = [one for one in known if one.kind == returns and one.source.isidentifier()]
            result = self.random.choice(simple) if simple else Value(self.literal(returns), returns)
        return Pipeline(name, parameters, statements, result)

    def chance(self, share: float) -> bool:
        """Whether something is done that is done so often."""
        return self.random.random() < share

    def name(self) -> str:
        """The name of another variable."""
        self.count += 1
        return f"v{self.count}"

    # --- values

    def literal(self, kind: str) -> str:
        """A value known now."""
        return self.random.choice(self.words.literals[kind])

    def value(self, known: list[Value], kind: str, depth: int = 2) -> Value:
        """A value of a type: one that is known, one that is made of those, or a literal."""
        there = [one for one in known if kind == one.kind or kind == f"{one.kind} | None"]
        if there and (depth == 0 or self.chance(0.5)):
            return self.random.choice(there)
        ways = self.ways(known, kind, depth) if depth else []
        if ways:
            return self.random.choice(ways)()
        return self.random.choice(there) if there else Value(self.literal(kind), kind, live=False)

    def ways(self, known: list[Value], kind: str, depth: int) -> list[Callable[[], Value]]:
        """How a value of the type can be made of others."""
        ways: list[Callable[[], Value]] = []

        def part(one: Value, form: str) -> Callable[[], Value]:
            return lambda: Value(form.format(one.source), kind)

        def default(one: Value) -> Callable[[], Value]:
            return lambda: Value(f"either({one.source}, {self.value(known, kind, depth - 1).source})", kind)

        for one in known:
            ways += [part(one, form) for form, made in self.words.parts.get(one.kind, ()) if made == kind]
            if one.kind == f"{kind} | None":
                ways.append(default(one))
            if kind == "bool" and one.kind.endswith("| None"):
                ways.append(part(one, "({} != None)"))
        ways += [
            self.operation(known, kind, *operator, depth) for operator in self.words.operators.get(kind, ())
        ]
        if kind in self.words.made:
            ways.append(self.combined(known, kind, depth))
        if kind == "bool":
            ways += [self.comparison(known, other, depth) for other in self.words.compared]
        if kind.startswith("list[") and f"{kind[5:-1]}" in self.words.literals:
            ways.append(lambda: self.written(known, kind))
        return ways

    def operation(
        self, known: list[Value], kind: str, sign: str, other: str, depth: int
    ) -> Callable[[], Value]:
        """Two values and an operator."""

        def made() -> Value:
            left, right = self.value(known, kind, depth - 1), self.value(known, other, depth - 1)
            return Value(f"({left.source} {sign} {right.source})", kind, left.live or right.live)

        return made

    def combined(self, known: list[Value], kind: str, depth: int) -> Callable[[], Value]:
        """A value that is made of several."""
        form, kinds = self.words.made[kind]

        def made() -> Value:
            parts = [self.value(known, one, depth - 1) for one in kinds]
            live = any(one.live for one in parts)
            return Value(form.format(*(one.source for one in parts)), kind, live)

        return made

    def comparison(self, known: list[Value], kind: str, depth: int) -> Callable[[], Value]:
        """Two values that are compared."""

        def made() -> Value:
            left, right = self.value(known, kind, depth - 1), self.value(known, kind, depth - 1)
            sign = self.random.choice(self.words.compared[kind])
            return Value(f"({left.source} {sign} {right.source})", "bool", left.live or right.live)

        return made

    def written(self, known: list[Value], kind: str) -> Value:
        """A list that is written out."""
        items = [self.value(known, kind[5:-1], 1).source for _ in range(self.random.randint(1, 3))]
        return Value(f"[{', '.join(items)}]", kind, live=False)

    # --- statements

    def statement(self, known: list[Value], depth: int) -> Statement:
        """A statement, whose values are known to those after it."""
        dice = self.random.random()
        if depth and dice < 0.05 and (ending := self.ending(known, depth)):
            return ending
        if depth and dice < 0.25:
            condition = self.value(known, "bool")
            if condition.live:
                return self.branch(known, condition.source, depth)
        if dice < 0.4:
            return self.loop(known) or self.call(known)
        return self.sweep(known) if dice < 0.48 else self.call(known)

    def target(self) -> tuple[str, dict[str, str], str]:
        """A step or pipeline, its parameters and its result."""
        if self.made and self.chance(0.3):
            sub = self.random.choice(self.made)
            assert sub.result is not None
            return sub.name, sub.parameters, sub.result.kind
        name = "fragile" if self.chance(0.1) else self.random.choice([*self.words.signatures])
        parameters, returns = self.words.signatures[name]
        left_out = {one for one in self.words.defaults(name) if self.chance(0.2)}
        return name, {one: kind for one, kind in parameters.items() if one not in left_out}, returns

    def arguments(self, known: list[Value], parameters: dict[str, str]) -> dict[str, str]:
        """An argument for each parameter."""
        return {name: self.value(known, kind).source for name, kind in parameters.items()}

    def call(self, known: list[Value]) -> Call:
        """A call."""
        target, parameters, returns = self.target()
        before = [one.source for one in known if one.source.startswith("v") and one.source.isidentifier()]
        after = self.random.choice(before) if before and self.chance(0.1) else None
        may_fail = self.chance(0.6 if target == "fragile" else 0.1)
        call = Call(self.name(), target, self.arguments(known, parameters), after, may_fail)
        if not may_fail:
            known.append(Value(call.name, returns))
        elif returns in self.words.literals and not returns.endswith("| None"):
            known.append(Value(f"either({call.name}, {self.value(known, returns, 1).source})", returns))
        return call

    def ending(self, known: list[Value], depth: int) -> Ending | None:
        """What runs at the end of a task, and does not use its result."""
        tasks = sorted({name for one in known for name in re.findall(r"\bv[0-9]+\b(?!\.)", one.source)})
        if not tasks:
            return None
        task = self.random.choice(tasks)
        others = [one for one in known if not re.search(rf"\b{task}\b", one.source)]
        body = [self.statement(others, depth - 1) for _ in range(self.random.randint(1, 2))]
        return Ending(self.random.choice(("on_exit", "on_failure")), task, body)

    def loop(self, known: list[Value]) -> Loop | None:
        """A loop; None where the step or pipeline takes nothing that there are lists of."""
        target, parameters, returns = self.target()
        able = [name for name, kind in parameters.items() if f"list[{kind}]" in self.words.literals]
        if not able:
            return None
        names = self.random.sample(able, min(len(able), self.random.choice((1, 1, 2))))
        way = "zip" if len(names) == 1 else self.random.choice(("zip", "grid"))
        over = {name: self.value(known, f"list[{parameters[name]}]").source for name in names}
        if len(names) == 1 and parameters[names[0]] == "int" and self.chance(0.2):
            counts = [one.source for one in known if one.kind == "int"]
            over = {names[0]: f"counted({self.random.choice(counts)})"} if counts else over
        if len(names) == 2:  # lists of the run have no known length
            over = {
                name: self.random.choice(self.words.literals[f"list[{parameters[name]}]"][:1])
                for name in names
            }
        fixed = {name: kind for name, kind in parameters.items() if name not in names}
        keep_going = self.chance(0.2)
        loop = Loop(self.name(), target, over, self.arguments(known, fixed), way, keep_going=keep_going)
        if keep_going:
            known.append(Value(f"failed({loop.name})", "list[int]"))
        if f"list[{returns}]" in self.words.literals:
            known.append(Value(loop.name, f"list[{returns}]"))
        return loop

    def sweep(self, known: list[Value]) -> Loop:
        """A sweep of a step whose result can be compared."""
        able = [
            (target, parameters, returns)
            for target, (parameters, returns) in self.words.signatures.items()
            if returns in ("int", "float", "Row")
            and any(kind in self.words.searched for kind in parameters.values())
        ]
        target, parameters, returns = self.random.choice(able)
        names = [name for name, kind in parameters.items() if kind in self.words.searched]
        names = self.random.sample(names, self.random.randint(1, len(names)))
        fixed = self.arguments(known, {name: kind for name, kind in parameters.items() if name not in names})
        over = {name: self.words.searched[parameters[name]] for name in names}
        way = self.random.choice(("maximize", "minimize"))
        loop = Loop(self.name(), target, over, fixed, way, "size" if returns == "Row" else "")
        known.append(Value(f"{loop.name}.best", returns))
        if f"list[{returns}]" in self.words.literals:
            known.append(Value(f"{loop.name}.results", f"list[{returns}]"))
        return loop

    def branch(self, known: list[Value], condition: str, depth: int) -> Branch:
        """A branch; what is made in it is known after it by `either`."""
        inner = [*known]
        body = [self.statement(inner, depth - 1) for _ in range(self.random.randint(1, 2))]
        negated, other = self.chance(0.3), list[Statement]()
        if not negated and self.chance(0.5):
            outer = [*known]
            other = [self.statement(outer, depth - 1) for _ in range(self.random.randint(1, 2))]
        for one in inner[len(known) :]:
            if one.kind in self.words.operators and self.chance(0.7):
                source = f"either({one.source}, {self.value(known, one.kind, 1).source})"
                known.append(Value(source, one.kind))
        return Branch(condition, negated, body, other)


# --- what Python does --------------------------------------------------------------------------------


class Absent:
    """What a task would have made that did not run, or failed; so is all that is made of it."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __getattr__(self, name: str) -> Absent:
        return self

    def _same(self, other: object) -> Absent:
        return FAILED if other is FAILED else self

    def __getitem__(self, key: object) -> Absent:
        return self

    def __call__(self, *values: object, **named: object) -> Absent:
        return self

    __and__ = __rand__ = __or__ = __ror__ = __truediv__ = _same
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __lt__ = __gt__ = __le__ = __ge__ = _same

    def __eq__(self, other: object) -> Any:
        return self._same(other)

    def __ne__(self, other: object) -> Any:
        return self._same(other)

    __hash__ = object.__hash__


SKIPPED = Absent("skipped")
FAILED = Absent("failed")
NONE_LEFT = Absent("none left")
"""The best of no trials, or the first of no items: an error for those who take it, and only when they do."""


class Items(list[Any]):
    """What a loop gives; `lost`: the numbers of the items that failed, where it goes on without them."""

    lost: tuple[int, ...] = ()

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if self else NONE_LEFT


def either(first: Any, second: Any) -> Any:
    """As the word of the language."""
    if first is FAILED or second is FAILED:
        return FAILED
    if first is NONE_LEFT:
        return NONE_LEFT
    return second if first is SKIPPED or first is None else first


def lost(items: Any) -> Any:
    """As the word `failed` of the language."""
    return [*items.lost] if isinstance(items, Items) else items


def counted(number: Any) -> Any:
    """As the word `numbers` of the language."""
    return number if number is FAILED or number is NONE_LEFT else [*range(number)]


def failed(value: Any) -> bool:
    """Whether a value needs what has failed."""
    items = [*value.values()] if is_dict(value) else items_of(value)
    if items is None and dataclasses.is_dataclass(value):
        items = [getattr(value, one.name) for one in dataclasses.fields(value)]
    if items is not None:
        return any(map(failed, items))
    assert value is not SKIPPED, "taken of what may not have run"
    return value is FAILED or value is NONE_LEFT


def _ended(task: str) -> str:
    """The name under which it is kept whether a task that has run failed."""
    return f"{task} failed"


class Plain:
    """Pipelines whose steps are functions; `printed` are their lines, `failures` what failed or could not begin."""

    def __init__(self, pipelines: list[Pipeline]) -> None:
        self.pipelines = {one.name: one for one in pipelines}
        self.printed: Counter[str] = Counter()
        self.failures = 0
        self.known: Names = {**vars(steps)}

    def call(self, target: str, arguments: Names, *before: Any) -> Any:
        """What a step or pipeline gives."""
        if any(map(failed, arguments.values())) or any(one is FAILED for one in before):
            return self.fail()
        if target in self.pipelines:
            return self.inside(self.pipelines[target], arguments)
        return self.step(target, arguments)

    def step(self, target: str, arguments: Names) -> Any:
        """What a step gives."""
        kinds, _ = VALUES.signatures[target]
        given = {name: arrived(value, kinds[name]) for name, value in arguments.items()}
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                return getattr(steps, target)(**given)
        except ValueError:
            return self.fail()
        finally:
            self.printed.update(out.getvalue().splitlines())

    def fail(self) -> Absent:
        """A task fails, or is omitted because of one that did."""
        self.failures += 1
        return FAILED

    def inside(self, pipeline: Pipeline, arguments: Names) -> Any:
        """What a pipeline gives, which fails with each of its tasks."""
        names = {**self.known, "either": either, "failed": lost, "counted": counted, **arguments}
        before = self.failures
        self.run(pipeline.statements, names)
        if self.failures > before:
            return FAILED
        return None if pipeline.result is None else self.value(pipeline.result.source, names)

    def value(self, source: str, names: Names) -> Any:
        """What an expression gives."""
        return eval(source, names)  # noqa: S307 -- made up here

    def run(self, statements: list[Statement], names: Names) -> None:
        """Run statements; what they make is in `names`."""
        for one in statements:
            match one:
                case Call(name, target, arguments, after, may_fail):
                    given = {key: self.value(source, names) for key, source in arguments.items()}
                    waits = [] if after is None else [names[after]]
                    before = self.failures
                    made = self.call(target, given, *waits)
                    if not any(map(failed, given.values())) and not any(each is FAILED for each in waits):
                        names[_ended(name)] = made is FAILED
                        if may_fail and made is FAILED:
                            made, self.failures = SKIPPED, before
                    names[name] = made
                case Loop():
                    names[one.name] = self.loop(one, names)
                    names[_ended(one.name)] = names[one.name] is FAILED
                case Ending(word, task, body):
                    failure = names.get(_ended(task))
                    runs = failure is not None and (word == "on_exit" or failure)
                    self.run(body, names) if runs else self.skip(body, names)
                case Branch(condition, negated, body, other):
                    holds = self.value(condition, names)
                    if failed(holds):
                        self.fail()
                    for block, runs in ((body, holds is (not negated)), (other, holds is False)):
                        self.run(block, names) if runs else self.skip(block, names)

    def skip(self, statements: list[Statement], names: Names) -> None:
        """What statements that do not run would have made."""
        for one in statements:
            if isinstance(one, Branch):
                self.skip([*one.body, *one.other], names)
            elif isinstance(one, Ending):
                self.skip(one.body, names)
            else:
                names[one.name] = SKIPPED

    def loop(self, loop: Loop, names: Names) -> Any:
        """What a loop or sweep gives."""
        fixed = {key: self.value(source, names) for key, source in loop.arguments.items()}
        lists = [self.value(source, names) for source in loop.over.values()]
        if any(map(failed, lists)):
            return self.fail()
        points = zip(*lists, strict=True) if loop.way == "zip" else product(*lists)
        before = self.failures
        results = [
            self.call(loop.target, {**fixed, **dict(zip(loop.over, point, strict=True))}) for point in points
        ]
        if loop.keep_going:
            self.failures = before
            kept = Items(one for one in results if one is not FAILED)
            kept.lost = tuple(at for at, one in enumerate(results) if one is FAILED)
            return kept
        if loop.way in ("zip", "grid"):
            return FAILED if any(one is FAILED for one in results) else Items(results)
        self.failures = before
        usable = [one for one in results if one is not FAILED]
        if not usable:
            self.fail()
            return SimpleNamespace(best=NONE_LEFT, results=Items())
        best = max if loop.way == "maximize" else min
        key: Callable[[Any], Any] = (lambda one: getattr(one, loop.metric)) if loop.metric else float
        return SimpleNamespace(best=best(usable, key=key), results=Items(usable))


def arrived(value: Any, kind: str) -> Any:
    """A value as a parameter of the type gets it."""
    if value is None:
        return None
    if kind in ("float", "float | None"):
        return float(value)
    return [*map(float, value)] if kind == "list[float]" else value
