"""Texts that functions of expressions make numbers, JSON or times of, where they are known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables.kinds import GO_NUMBER
from flowdsl.compiler.lint.variables.typing_findings import WrongArgument
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema.findings import short
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Path

_CALL = regex(
    r"(?<![\w.])(asInt|int|asFloat|float|fromJSON|duration)\(\s*(?:('[^'\\]*'|\"[^\"\\]*\")"
    r"|((?:inputs|workflow)\.parameters)(?:\.(\w+)|\[(?:'([^'\\]*)'|\"([^\"\\]*)\")\]))\s*\)"
)
"""A function with a text, or with a parameter."""

_WHOLE = regex(r"[-+]?[0-9]+")


def converted(
    arrived: Callable[[str], Iterable[tuple[Path, str]]], path: Path, text: str, offset: int
) -> Iterator[Problem]:
    """The findings about texts, and values of parameters, of which a function makes nothing, in whatever case.

    The expression begins at an offset of the text at a path; `arrived` gives the values of a variable.
    Source: Atoi, ParseFloat and ParseDuration of Go, which expr-lang calls.
    """
    found: list[tuple[int, Problem]] = []
    for call in _CALL.finditer(text):
        function, literal, kind, *names = call.groups()
        part: Part | None = None
        if literal:
            part = call.start(2) + offset, call.end(2) + offset
            values = [(path, str(literal[1:-1]))]
        else:
            name = next(each for each in names if each is not None)
            values = [each for each in arrived(f"{kind}.{name}") if each[1]]
        for place, value in values:
            if (wrong := _fault(function, value, call[0])) is not None:
                found.append((call.start(), Problem(place, wrong, part=part)))
    if found and "{{" not in text:  # what a tag becomes decides
        always = {each.start for each in _always(parse(text)) if isinstance(each, t.Call)}
        yield from (problem for start, problem in found if start in always)


def _fault(function: str, value: str, call: str) -> WrongArgument | None:
    wanted, way = "", ""
    if function in ("asInt", "int"):
        if not _WHOLE.fullmatch(value):
            wanted, way = "a text that is a whole number", "give it a whole number"
            if GO_NUMBER.fullmatch(value):
                way = f"write `{call.replace(function, 'asFloat', 1)}`, or give it a whole number"
    elif function in ("asFloat", "float"):
        if not GO_NUMBER.fullmatch(value):
            wanted, way = "a text that is a number", "give it a number, with no unit or space"
    elif function == "fromJSON":
        wanted, way = _json_fault(value), "write JSON, in which texts and keys are in double quotes"
    elif not _is_duration(value):
        wanted, way = "a text that is a duration", "write numbers with the units h, m, s, ms, such as `1h30m`"
    return WrongArgument(function, wanted, f"`{short(value)}`", way) if wanted else None


def _json_fault(value: str) -> str:
    try:
        json.loads(value)
    except ValueError:
        return "a text that is JSON"
    except RecursionError:
        pass
    return ""


def _is_duration(value: str) -> bool:
    try:
        duration(value)
    except GrammarError:
        return False
    return not value.isdecimal() or not value.strip("0")


def _always(node: t.Node) -> Iterator[t.Node]:
    """The parts of an expression that are evaluated in every case, and with them the whole."""
    left = [node]
    for each in left:  # grows while it is walked
        yield each
        match each:
            case t.Conditional(condition, _, _):
                left.append(condition)
            case t.Binary("&&" | "||" | "??", first, _):
                left.append(first)
            case t.Closure() | t.Chain():
                pass
            case _:
                left += t.children(each)
