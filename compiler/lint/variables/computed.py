"""Parts of expressions that are known before the run: those that always fail then."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables.typing_findings import WrongArgument
from flowdsl.compiler.lint.workflow.expression_values import needs
from flowdsl.compiler.problem import Fault, Problem
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.expression import parse
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator

    from flowdsl.compiler.tree import Path

_SIGNS = regex(r"\w\(|\[|[-+*/%.] ?\w")
"""Parts of an expression that can fail."""

_EMPTY = ("", "[]", "{}", "null")
"""Placeholders that a parameter may have until a run is given another value."""


class Part(NamedTuple):
    """A part of an expression that is always evaluated, and the only variable that it depends on, if any.

    `fine` matches values of the variable that are known to be valid without evaluation: numbers, where they
    are only used as such. Parameter searches have thousands of such values.
    """

    node: t.Node
    variable: str
    fine: re.Pattern[str] | None


def computed(
    arrived: Callable[[str], Iterable[tuple[Path, str]]], path: Path, text: str, offset: int, tag: bool
) -> Iterator[Problem]:
    """The findings about parts that cannot be evaluated, with each known value of their variable.

    The expression starts at an offset of the text at a path, in a `tag` or alone; `arrived` returns the
    values of a variable.
    """
    if "{{" in text or not _SIGNS.search(text):  # depends on the value of the tag
        return
    for part in _known(text):
        given = arrived(part.variable) if part.variable else ()
        fine = part.fine
        values = [each for each in given if each[1] not in _EMPTY and not (fine and fine.fullmatch(each[1]))]
        if not part.variable:
            values = [(path, "")]
        for place, value in values:
            # Few manifests need the functions of expressions.
            from flowdsl.compiler.lint.variables.evaluated import evaluated

            for finding, span in evaluated(text, part, value, tag, _is_of_run(place)):
                yield Problem(place, finding) if span is None else Fault(finding, span).at(path, offset)


def _is_of_run(place: Path) -> bool:
    """Whether a value is an argument of a run that may be given another value: a schedule gives none."""
    return "arguments" in place and place[place.index("arguments") - 1] == "spec"


def of_loops(is_list: Callable[[str], bool], path: Path, text: str, offset: int) -> Iterator[Problem]:
    """The findings about outputs of loops, lists in JSON, converted to numbers; `is_list` detects such outputs."""
    if "{{" in text or not _OF_OUTPUT.search(text):
        return
    left = [parse(text)]
    for each in left:  # grows during the loop
        left += t.always(each)
        match each:
            case t.Call("asInt" | "int" | "asFloat" | "float" | "duration" as function, (argument,)):
                name = t.path(argument)
                if name is not None and name[0] in ("steps", "tasks") and is_list(".".join(name)):
                    wanted = f"a text that is a {'duration' if function == 'duration' else 'number'}"
                    written = text[argument.start : argument.end]
                    way = f"take one of its items, such as `{function}(fromJSON({written})[0])`"
                    finding = WrongArgument(function, wanted, "the outputs of a loop, a list in JSON", way)
                    yield Fault(finding, (argument.start, argument.end)).at(path, offset)
            case _:
                pass


_OF_OUTPUT = regex(r"\w\(\s*(?:steps|tasks)\b")


@lru_cache(maxsize=4096)
def _known(text: str) -> tuple[Part, ...]:
    """The largest parts of an expression that are always evaluated, and depend on one variable at most.

    For two variables it is unknown which of their values occur together.
    """
    found: list[Part] = []
    left = [parse(text)]
    known: dict[int, str | None] = {}
    try:
        for each in left:  # grows during the loop
            variable = needs(each, known)
            if variable is None:
                left += t.always(each)
            elif not isinstance(each, t.Literal) and t.path(each) is None:
                found.append(Part(each, variable, _fine(each)))
    except RecursionError:
        return ()
    return tuple(found)


_WHOLE = regex(r"-?\d{1,9}")
_NUMBER = regex(r"-?\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,2})?")


def _fine(node: t.Node) -> re.Pattern[str] | None:
    """A pattern for the valid numbers of the variable of a part, if the part only calculates with them."""
    fine, left = _NUMBER, [node]
    for each in left:  # grows during the loop
        match each:
            case t.Call("asInt" | "int", (argument,)) if t.path(argument) is not None:
                fine = _WHOLE
            case t.Call("asFloat" | "float", (argument,)) if t.path(argument) is not None:
                pass
            case t.Literal(int() | float() | str()):
                pass
            case t.Binary("/", dividend, t.Literal(int() | float() as by)) if by:
                left.append(dividend)
            case t.Binary("+" | "-" | "*") | t.Unary("-"):
                left += t.children(each)
            case t.Call("string" | "abs" | "min" | "max" | "round" | "floor" | "ceil"):
                left += t.children(each)
            case _:
                return None
    return fine
