"""Types made up at random: a value arrives as it was, whichever way it goes."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.runtime.local import prepare
from flowdsl.runtime.phases import SUCCEEDED
from tests.end_to_end import inside
from tests.local.simulation import Pod, simulate

HEAD = '''
from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Literal, NamedTuple, TypedDict
from uuid import UUID

from flowdsl import either, fan_out, otherwise, pipeline, step, when


class Plain(Enum):
    ONE = 1
    OTHER = "an other"


class Number(IntEnum):
    ONE = 1
    TWO = 2


class Word(StrEnum):
    A = "a"
    B = "b c"


def shown(x: object) -> str:
    """The value and its types, with the keys of dicts in order: as part of another value they are sorted."""
    if isinstance(x, dict):
        return f"{{{', '.join(sorted(f'{shown(key)}: {shown(value)}' for key, value in x.items()))}}}"
    if isinstance(x, (list, tuple)):
        return f"{type(x).__name__}({', '.join(map(shown, x))})"
    fields = getattr(x, "__dataclass_fields__", None)
    return ascii(x) if fields is None else f"{type(x).__name__}({', '.join(shown(getattr(x, one)) for one in fields)})"
'''

PROGRAM = """

class Both(NamedTuple):
    first: KIND
    rest: list[KIND]
    other: MAYBE


@step(image="a:1")
def one(x: KIND) -> KIND:
    print("one", shown(x))
    return x


@step(image="a:1")
def several(x: list[KIND]) -> list[KIND]:
    print("several", shown(x))
    return x


@step(image="a:1")
def maybe(x: MAYBE) -> MAYBE:
    print("maybe", shown(x))
    return x


@step(image="a:1")
def both(first: KIND, rest: list[KIND], other: MAYBE = None) -> Both:
    return Both(first, rest, other)


@step(image="a:1")
def whole(x: Both) -> Both:
    print("whole", shown(x))
    return x


@pipeline
def inner(x: KIND, here: bool, other: MAYBE = None) -> KIND:
    with when(here):
        a = one(x)
    with otherwise():
        b = one.options(name="other")(x)
    return either(a, b)


@pipeline
def main(x: KIND = FIRST, here: bool = HERE) -> None:
    a = one(x)
    b = one(SECOND)
    c = several([a, b, THIRD])
    d = fan_out(inner, over={"x": c}, here=here)
    e = both(a, d)
    f = whole(e)
    g = fan_out(one, over={"x": [FIRST, SECOND]})
    h = fan_out(whole, over={"x": [e, f]})
    i = several(h[1].rest)
    j = maybe(f.other)
    k = one(either(f.other, SECOND))
    m = one(d[1])
    n = one(i[2])
    o = several(g)
    p = maybe(f.first)
"""

SCALARS = {
    "int": ("0", "-7", "2**53 - 1"),
    "float": ("0.0", "1.0", "-0.1", "1e-07", "1e22", "5e-324", "1.7976931348623157e308"),
    "str": (
        *("''", "' '", "'null'", "'1'", "'[1]'", "'{x}'", "'}}'", "'$(HOME) $$ `ls`'", "'a\\nb\\n'", "'\\t'"),
        *("'it\\'s \"q\"'", "'\\\\n'", "'\\u00e9\\U0001f600'", "'# - & * : %'", "'2026-01-01'", "'\\u2028'"),
    ),
    "bool": ("True", "False"),
    "Plain": ("Plain.ONE", "Plain.OTHER"),
    "Number": ("Number.ONE", "Number.TWO"),
    "Word": ("Word.A", "Word.B"),
    "Literal['a', 'b c']": ("'a'", "'b c'"),
    "Literal[1, 2, 30]": ("1", "30"),
    "date": ("date(2026, 1, 31)", "date(1, 1, 1)"),
    "time": ("time(0)", "time(23, 59, 59, 1)"),
    "datetime": (
        "datetime(2026, 1, 31, 5, 6, 7, 8)",
        "datetime(1999, 12, 31, tzinfo=timezone(timedelta(hours=-5)))",
    ),
    "timedelta": ("timedelta(0)", "timedelta(400)", "timedelta(microseconds=1)", "timedelta(seconds=-1.5)"),
    "Decimal": ("Decimal('1.10')", "Decimal('-0')", "Decimal('1E+30')"),
    "UUID": ("UUID(int=0)", "UUID(int=2**128 - 1)"),
}
KEYS = {
    "str": ("''", "'b c'", "'x.y'", "'\\u00fc'", "'\"\\''"),
    "int": ("0", "-1", "10", "9"),
    "Plain": ("Plain.ONE", "Plain.OTHER"),
    "Word": ("Word.A", "Word.B"),
    "date": ("date(2026, 1, 31)", "date(1, 1, 1)"),
    "UUID": ("UUID(int=0)", "UUID(int=5)"),
}


class Maker:
    """Makes up a type, with the classes that it needs, and values of it as text."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.classes: list[str] = []
        self.fields: dict[str, dict[str, str]] = {}

    def kind(self, depth: int) -> str:
        """A type."""
        form = self.random.choice(("scalar", "list", "dict", "tuple", "row", "maybe", "record", "record"))
        if depth == 0 or form == "scalar":
            return self.random.choice([*SCALARS])
        if form == "record":
            return self.record(depth)
        if form == "tuple":
            return f"tuple[{', '.join(self.kind(depth - 1) for _ in range(self.random.randint(1, 3)))}]"
        inner = self.kind(depth - 1)
        if form == "dict":
            return f"dict[{self.random.choice([*KEYS])}, {inner}]"
        if form == "maybe":
            return inner if inner.endswith(" | None") else f"{inner} | None"
        return f"list[{inner}]" if form == "list" else f"tuple[{inner}, ...]"

    def record(self, depth: int) -> str:
        """A class with fields."""
        fields = {f"part{one}": self.kind(depth - 1) for one in range(self.random.randint(1, 3))}
        name = f"Made{len(self.fields)}"
        self.fields[name] = fields
        head = self.random.choice(("class {}(NamedTuple):", "class {}(TypedDict):", "@dataclass\nclass {}:"))
        lines = [head.format(name), *(f"    {one}: {kind}" for one, kind in fields.items())]
        self.classes.append("\n".join(lines))
        return name

    def value(self, kind: str) -> str:
        """A value of a type."""
        if kind.endswith(" | None"):
            return "None" if self.random.random() < 0.4 else self.value(kind.removesuffix(" | None"))
        if kind in SCALARS:
            return self.random.choice(SCALARS[kind])
        if kind in self.fields:
            return f"{kind}({', '.join(f'{one}={self.value(of)}' for one, of in self.fields[kind].items())})"
        form, parts = kind.partition("[")[0], split(kind.partition("[")[2][:-1])
        if form == "dict":
            keys = self.random.sample(KEYS[parts[0]], self.random.randint(0, 2))
            return f"{{{', '.join(f'{key}: {self.value(parts[1])}' for key in keys)}}}"
        if form == "tuple" and parts[-1] != "...":
            return f"({''.join(f'{self.value(one)}, ' for one in parts)})"
        items = "".join(f"{self.value(parts[0])}, " for _ in range(self.random.randint(0, 2)))
        return f"[{items}]" if form == "list" else f"({items})"


def split(parts: str) -> list[str]:
    """The parts of a type between its outer brackets."""
    found, depth = [""], 0
    for letter in parts:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found]


def made(random: Random) -> tuple[str, list[str]]:
    """The text of a pipeline, and that of the three values in it."""
    maker = Maker(random)
    kind = maker.kind(3)
    values = [maker.value(kind) for _ in range(3)]
    program = PROGRAM.replace("HERE", str(random.random() < 0.5))
    program = program.replace("MAYBE", kind if kind.endswith(" | None") else f"{kind} | None")
    for name, text in zip(("KIND", "FIRST", "SECOND", "THIRD"), (kind, *values), strict=True):
        program = program.replace(name, text)
    return "\n\n\n".join([HEAD, *maker.classes]) + program, values


def wanted(names: dict[str, Any], values: list[str]) -> Counter[str]:
    """The lines that the steps print for the values."""
    shown = names["shown"]
    x, y, z = (eval(text, names) for text in values)  # noqa: S307
    whole = f"whole Both({shown(x)}, {shown([x, y, z])}, None)"
    ones = [f"one {shown(one)}" for one in (x, y, x, y, z, x, y, y, y, z)]
    lists = [f"several {shown(one)}" for one in ([x, y, z], [x, y, z], [x, y])]
    return Counter([*ones, *lists, whole, whole, whole, "maybe None", f"maybe {shown(x)}"])


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=True))
def test_a_value_of_any_type_arrives_as_it_was(random: Random) -> None:
    text, values = made(random)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "made.py")
        file.write_text(text, encoding="utf-8")
        loaded = load(file)
        result = compile_loaded(loaded, "main")
    assert not result.failed, [one.finding.message for one in result.diagnostics]
    printed: Counter[str] = Counter()

    def world(pod: Any) -> Pod:
        done = inside.done(pod)
        printed.update(done.printed.splitlines())
        return Pod(done.outcome)

    found = simulate(prepare.workflow(result.documents[0], {}), world)
    assert found.ended is not None
    assert (found.ended.phase, printed) == (SUCCEEDED, wanted(vars(loaded.module), values)), text
