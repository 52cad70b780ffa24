"""What a returned expression is said to be, beside what Python makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load

HEAD = """
from pathlib import Path
from typing import Any

from flowdsl import Volume, pipeline, step

"""
STEP = """
@step(image="python:3.12-slim")
def step{number}(
    n: int, x: float, flag: bool, text: str, rows: list[str], counts: dict[str, int], place: Path
) -> {annotation}:
    made = {expression}
    return made
"""
CALL = "    step{number}(3, 0.5, True, 'a b', ['b', 'a'], {{'a': 1}}, Volume('data') / 'a')\n"
CONSTANTS = ("2", "0.5", "-1", "True", "'a'", "'%s'", "[]", "['c']", "('a', 1)", "{'k': 1}", "f'{n}'")
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<", "==", "in", "is", "and", "or"]
FUNCTIONS = ["len", "str", "float", "int", "abs", "round", "sorted", "list", "bool"]
METHODS = ["strip", "split", "upper", "sort", "copy", "exists"]
TAKING = ["count", "index", "startswith", "append", "update"]
FORMS = (
    *(f"({{0}} {operator} {{1}})" for operator in OPERATORS),
    *(f"{name}({{0}})" for name in FUNCTIONS),
    *(f"{{0}}.{name}()" for name in METHODS),
    *(f"{{0}}.{name}({{1}})" for name in TAKING),
    *("not {0}", "-{0}", "+{0}", "round({0}, 1)", "({0} / 'a')", "'-'.join({0})", "({0} < {1} < {0})"),
    *("[each for each in {0}]", "({0} if n else {1})"),
)
ANNOTATIONS = {
    **{name: name for name in ("int", "float", "bool", "str", "Path")},
    "list": "list[Any]",
    "dict": "dict[str, Any]",
    "tuple": "tuple[Any, ...]",
}


def annotation(expression: str) -> str | None:
    """The annotation that is right in Python; None if the expression raises, or its value is not in JSON."""
    values = {"n": 3, "x": 0.5, "flag": True, "text": "a b", "rows": ["b", "a"], "counts": {"a": 1}}
    try:
        value = eval(expression, {}, {**values, "place": Path()})  # noqa: S307 -- made of the forms above
    except Exception:
        return None
    return ANNOTATIONS.get("Path" if isinstance(value, Path) else type(value).__name__)


def filled(drawn: tuple[str, str, str]) -> str:
    form, one, other = drawn
    return form.format(one, other)


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(st.sampled_from(FORMS), inner, inner).map(filled)


SMALLEST = st.sampled_from(("n", "x", "flag", "text", "rows", "counts", "place", *CONSTANTS))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.recursive(SMALLEST, larger, max_leaves=6), min_size=10, max_size=20, unique=True))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_python_makes_is_told_as_no_other_type(
    tmp_path_factory: pytest.TempPathFactory, expressions: list[str]
) -> None:
    made = {number: annotation(one) for number, one in enumerate(expressions)}
    right = {number: known for number, known in made.items() if known is not None}
    steps = [STEP.format(number=one, annotation=right[one], expression=expressions[one]) for one in right]
    calls = [CALL.format(number=one) for one in right]
    file = tmp_path_factory.mktemp("case") / "case.py"
    file.write_text(
        f"{HEAD}{''.join(steps)}\n@pipeline\ndef nightly():\n    pass\n{''.join(calls)}", encoding="utf-8"
    )
    found = [one for one in compile_loaded(load(file)).diagnostics if one.finding.code in ("FD236", "FD769")]
    assert not found
