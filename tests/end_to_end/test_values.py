"""Expressions in a pipeline's body, evaluated through the YAML, give exactly what Python gives."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.runtime.local import prepare
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.phases import ERROR, SKIPPED, SUCCEEDED
from tests.end_to_end import inside
from tests.end_to_end.world import World
from tests.local.simulation import Pod, simulate

Values = dict[str, Any]

HEAD = """
from flowdsl import pipeline, step, when

@step(image="a:1")
def take_int(x: int) -> None:
    print(ascii(x))

@step(image="a:1")
def take_float(x: float) -> None:
    print(ascii(x))

@step(image="a:1")
def take_str(x: str) -> None:
    print(ascii(x))

@step(image="a:1")
def take_bool(x: bool) -> None:
    print(ascii(x))

@step(image="a:1")
def take_list(x: list[object]) -> None:
    print(ascii(x))

@pipeline
def main(a: int, b: int, x: float, y: float, s: str, t: str, p: bool) -> None:
"""
TYPES = {"a": int, "b": int, "x": float, "y": float, "s": str, "t": str, "p": bool}


class Otherwise(Exception):
    """What Argo writes or computes otherwise, and is left out.

    Whole numbers beyond 53 bits, which it rounds beside a float, and the texts of NaN and the infinities.
    """


class Tree(NamedTuple):
    """An expression: its text, the type of its value, whether it is a run-time value, and how it is computed.

    An f-string is a text to Python, even if it holds run-time values.
    """

    source: str
    kind: type
    live: bool
    value: Callable[[Values], Any]


def operation(operator: str, left: Tree, right: Tree, kind: type) -> Tree:
    def value(values: Values) -> Any:
        one, two = left.value(values), right.value(values)
        found: Any = eval(f"one {operator} two", {"one": one, "two": two})  # noqa: S307
        for number in (one, two, found):
            if type(number) is int and abs(number) > 2**53:
                raise Otherwise
        return found

    return Tree(f"({left.source} {operator} {right.source})", kind, left.live or right.live, value)


def constant(given: Any) -> Tree:
    def value(values: Values) -> Any:
        return given

    return Tree(repr(given), type(given), False, value)


def negative(one: Tree) -> Tree:
    def value(values: Values) -> Any:
        return -one.value(values)

    return Tree(f"(-{one.source})", one.kind, True, value)


def variable(name: str) -> Tree:
    def value(values: Values) -> Any:
        return values[name]

    return Tree(name, TYPES[name], True, value)


ODD = "aB0 '\"\\\n\té\U0001f600{}$()&<>=%,:;#/|"
TEXTS = st.text(ODD, max_size=6).filter(lambda text: "{{" not in text)
FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 0.1, 1e-07, 1e21, 1e22, 123456789.0, 1e6, 2.5]),
)
INTS = st.one_of(st.integers(-9, 9), st.integers(-(2**53), 2**53))


def numbers(depth: int) -> st.SearchStrategy[Tree]:
    leaf = st.one_of(
        st.sampled_from("abxy").map(variable),
        st.sampled_from("abxy").map(variable),
        INTS.map(constant),
        FLOATS.map(constant),
    )
    if depth == 0:
        return leaf

    def made(drawn: tuple[str, Tree, Tree]) -> Tree:
        operator, left, right = drawn
        whole = left.kind is int and right.kind is int and operator != "/"
        return operation(operator, left, right, int if whole else float)

    inner = numbers(depth - 1)
    pairs = st.tuples(st.sampled_from("+-*/"), inner, inner)
    signed = inner.filter(lambda one: one.live).map(negative)
    return st.one_of(leaf, pairs.filter(lambda drawn: drawn[1].live or drawn[2].live).map(made), signed)


def texts(depth: int) -> st.SearchStrategy[Tree]:
    leaf = st.one_of(
        st.sampled_from("st").map(variable), st.sampled_from("st").map(variable), TEXTS.map(constant)
    )
    if depth == 0:
        return leaf

    def joined(drawn: tuple[Tree, Tree]) -> Tree:
        return operation("+", *drawn, str)

    def formatted(drawn: tuple[str, Tree, str]) -> Tree:
        before, one, after = drawn
        parts = [text.replace("{", "{{").replace("}", "}}") for text in (before, after)]
        source = f"f{repr(parts[0])[:-1]}{{{one.source}}}{repr(parts[1])[1:]}"

        def value(values: Values) -> str:
            shown = one.value(values)
            if isinstance(shown, float) and not math.isfinite(shown):
                raise Otherwise
            return f"{before}{shown}{after}"

        return Tree(source, str, False, value)

    inner = texts(depth - 1)
    plain = st.text("aé {}$\U0001f600:", max_size=4).filter(
        lambda text: "{{" not in text and "}}" not in text
    )
    shown = st.one_of(
        st.sampled_from("abxyst").map(variable),
        numbers(1).filter(lambda tree: tree.kind is int and tree.live and '"' not in tree.source),
    )
    return st.one_of(
        leaf,
        st.tuples(inner, inner).map(joined),
        st.tuples(plain, shown, plain).map(formatted),
    )


def flags(depth: int) -> st.SearchStrategy[Tree]:
    def compared(drawn: tuple[str, Tree, Tree]) -> Tree:
        return operation(*drawn, bool)

    orders = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    sides = [st.tuples(orders, one, one) for one in (numbers(depth), texts(depth))]
    leaf = st.one_of(
        *(side.filter(lambda drawn: drawn[1].live or drawn[2].live).map(compared) for side in sides)
    )
    if depth == 0:
        return st.one_of(leaf, st.just(variable("p")))
    inner = flags(depth - 1)
    return st.one_of(leaf, st.tuples(st.sampled_from("&|"), inner, inner).map(compared))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("values")


class Seen(NamedTuple):
    """How a task ended, and what it printed."""

    phase: str
    message: str
    log: str


def manifest(lines: list[str], place: Path) -> Any:
    """The manifest of a pipeline with these lines."""
    file = place / "values.py"
    file.write_text(HEAD + "".join(f"    {line}\n" for line in lines), encoding="utf-8")
    result = compile_loaded(load(file))
    messages = [f"{one.finding.message}\n{file.read_text()}" for one in result.diagnostics]
    assert not result.failed, messages
    return result.documents[0]


def arguments(values: Values) -> dict[str, str]:
    return {name: one if isinstance(one, str) else json.dumps(one) for name, one in values.items()}


def run(lines: list[str], values: Values, place: Path) -> dict[str, Seen]:
    """The tasks of a pipeline with these lines, by name, after a run with these arguments.

    The steps are run in this process, with the variables that they would have.
    """
    printed: dict[str, str] = {}

    def world(pod: events.StartPod) -> Pod:
        made = inside.done(pod)
        printed[pod.name] = made.printed
        return Pod(made.outcome)

    found = simulate(prepare.workflow(manifest(lines, place), arguments(values)), world)
    return {
        node.display: Seen(node.phase, node.message, printed.get(node.name, ""))
        for node in found.machine.nodes.values()
    }


def outcome(tree: Tree, values: Values) -> Any:
    """What Python gives, or the exception that it raises."""
    try:
        return tree.value(values)
    except (ZeroDivisionError, OverflowError) as error:
        return error


CALM = [HealthCheck.too_slow, HealthCheck.filter_too_much]

VALUES = st.fixed_dictionaries(
    {
        "a": INTS,
        "b": INTS,
        "x": st.one_of(FLOATS, st.sampled_from([math.nan, math.inf, -math.inf])),
        "y": FLOATS,
        "s": TEXTS,
        "t": TEXTS,
        "p": st.booleans(),
    }
)


@settings(
    max_examples=60,
    suppress_health_check=CALM,
)
@given(trees=st.lists(st.one_of(numbers(3), texts(2), flags(2)), min_size=4, max_size=8), values=VALUES)
def test_an_expression_gives_what_python_gives(trees: list[Tree], values: Values, place: Path) -> None:
    lines: list[str] = []
    wanted: dict[str, Any] = {}
    for number, tree in enumerate(trees):
        try:
            value = outcome(tree, values)
        except Otherwise:
            continue
        assume(not isinstance(value, str) or "{{" not in value)
        wanted[f"e{number}"] = value
        lines.append(f'take_{tree.kind.__name__}.options(name="e{number}")({tree.source})')
        if tree.kind is bool and tree.live:
            lines += [f"with when({tree.source}):", f'    take_int.options(name="when{number}")({number})']
    assume(lines)
    nodes = run(lines, values, place)
    for name, value in wanted.items():
        node = nodes[name]
        infinite = isinstance(value, float) and not math.isfinite(value) and _computed(name, lines)
        if infinite or isinstance(value, Exception):
            assert node.phase == ERROR, (name, lines, values)
            continue
        assert (node.phase, node.log) == (SUCCEEDED, f"{value!a}\n"), (name, lines, values, node.message)
        if f"when{name[1:]}" in nodes:
            assert nodes[f"when{name[1:]}"].phase == (SUCCEEDED if value else SKIPPED), (name, lines, values)


def _computed(name: str, lines: list[str]) -> bool:
    """Whether Argo computes the value, rather than handing it on."""
    return next("(" in line.split(")(", 1)[1] for line in lines if f'"{name}"' in line)


@pytest.mark.parametrize(
    ("line", "values", "printed"),
    [
        ("take_int(a + b)", {"a": 2**62, "b": 2**61 + 1}, repr(2**62 + 2**61 + 1)),
        ("take_int(a * -1)", {"a": 2**63 - 1}, repr(1 - 2**63)),
        ("take_bool(a == 9007199254740993)", {"a": 2**53 + 1}, "True"),
        ("take_bool(a == 9007199254740992)", {"a": 2**53 + 1}, "False"),
        ("take_float(x)", {"x": math.nan}, "nan"),
        ("take_float(x)", {"x": -math.inf}, "-inf"),
        ("take_bool(x != x)", {"x": math.nan}, "True"),
        ("take_bool(x < 1e999)", {"x": 1.0}, "True"),
        ("take_list([a, x, s, p, [a + 1, x * 2], s + t])", {}, "[1, 0.5, 's', True, [2, 1], 'st']"),
        ("take_list([f'{a} {s}', {'k': (a, p)}, None, '{{'])", {}, "['1 s', {'k': [1, True]}, None, '{{']"),
    ],
)
def test_what_is_exact_beyond_that(line: str, values: Values, printed: str, place: Path) -> None:
    given = {"a": 1, "b": 2, "x": 0.5, "y": 2.0, "s": "s", "t": "t", "p": True, **values}
    (node,) = (one for name, one in run([line], given, place).items() if name.startswith("take"))
    assert (node.phase, node.log) == (SUCCEEDED, f"{printed}\n")


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("take_float(x / y)", {"y": 0.0}),
        ("take_float(1 / a)", {"a": 0}),
        ("take_float(x / (a - 1))", {}),
        ("take_bool(x / y > 1)", {"y": 0.0}),
        ("take_float(x / (1 / y))", {"y": 0.0}),
    ],
)
def test_a_division_by_zero_is_an_error_and_no_infinity(line: str, values: Values, place: Path) -> None:
    given = {"a": 1, "b": 2, "x": 0.5, "y": 2.0, "s": "s", "t": "t", "p": True, **values}
    with pytest.raises(ZeroDivisionError):
        eval(line.partition("(")[2][:-1], dict(given))  # noqa: S307
    (node,) = (one for name, one in run([line], given, place).items() if name.startswith("take"))
    assert node.phase == ERROR
    assert "division by zero" in node.message


def test_processes_are_given_the_same(world: World) -> None:
    lines = [
        "take_int(a * b - 7)",
        "take_float(x * 3)",
        "take_float(a / b)",
        "take_bool((x < y) & (s == 'q'))",
        "take_str(f'{a} {x} {s}')",
        "take_str(s + t)",
        "take_list([s, t, [a, x, p], {'k': s}])",
    ]
    values: Values = {"a": 2**53, "b": 3, "x": 0.1, "y": 1e22, "p": False}
    values |= {"s": "q'\"\\\n\té\U0001f600 $(A) $$ }} {", "t": "$(FLOWDSL_x)$"}
    steps = [line.replace("(", f'.options(name="e{number}")(', 1) for number, line in enumerate(lines)]
    there = world.run(manifest(steps, world.folder), arguments(values))
    here = run(steps, values, world.folder)
    for number, line in enumerate(lines):
        wanted = ascii(eval(line.partition("(")[2][:-1], dict(values)))  # noqa: S307
        assert here[f"e{number}"].log == there.task(f"e{number}").log == f"{wanted}\n"
