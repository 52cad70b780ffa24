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
"""What an expression holds that can fail."""

_EMPTY = ("", "[]", "{}", "null")
"""Values that a parameter may have for now, until a run is given another one."""


class Part(NamedTuple):
    """A part of an expression that is computed in every case, and the one variable of which it is, if any.

    `fine`: values of the variable of which it is known without a trial that they make no difference: numbers, to what
    only counts with them. Searches have thousands of such values.
    """

    node: t.Node
    variable: str
    fine: re.Pattern[str] | None


def computed(
    arrived: Callable[[str], Iterable[tuple[Path, str]]], path: Path, text: str, offset: int, tag: bool
) -> Iterator[Problem]:
    """The findings about parts of which no value can be made, with each value that its variable is known to have.

    The expression begins at an offset of the text at a path, in a `tag` or alone; `arrived` gives the values of a
    variable.
    """
    if "{{" in text or not _SIGNS.search(text):  # what a tag becomes decides
        return
    for part in _known(text):
        given = arrived(part.variable) if part.variable else ()
        fine = part.fine
        values = [each for each in given if each[1] not in _EMPTY and not (fine and fine.fullmatch(each[1]))]
        if not part.variable:
            values = [(path, "")]
        for place, value in values:
            # The functions of expressions are needed for few manifests.
            from flowdsl.compiler.lint.variables.evaluated import evaluated

            for finding, span in evaluated(text, part, value, tag, _is_of_run(place)):
                yield Problem(place, finding) if span is None else Fault(finding, span).at(path, offset)


def _is_of_run(place: Path) -> bool:
    """Whether a value is one of the arguments of a run, which may be given others."""
    return "arguments" in place and place[place.index("arguments") - 1] in ("spec", "workflowSpec")


def of_loops(is_list: Callable[[str], bool], path: Path, text: str, offset: int) -> Iterator[Problem]:
    """The findings about outputs of loops, lists in JSON, of which a number is made; `is_list` knows those outputs."""
    if "{{" in text or not _OF_OUTPUT.search(text):
        return
    left = [parse(text)]
    for each in left:  # grows while it is walked
        left += always(each)
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
    """The largest parts of an expression that are computed in every case, of constants and of one variable at most.

    Of two variables it is not known which of their values come together.
    """
    found: list[Part] = []
    left = [parse(text)]
    known: dict[int, str | None] = {}
    try:
        for each in left:  # grows while it is walked
            variable = needs(each, known)
            if variable is None:
                left += always(each)
            elif not isinstance(each, t.Literal) and t.path(each) is None:
                found.append(Part(each, variable, _fine(each)))
    except RecursionError:
        return ()
    return tuple(found)


def always(node: t.Node) -> Iterator[t.Node]:
    """The parts of a part that are computed whenever it is."""
    match node:
        case t.Conditional(condition, _, _):
            yield condition
        case t.Binary("&&" | "||" | "??", first, _):
            yield first
        case t.Method(function, arguments):
            yield from (function.of, *arguments)
        case t.Chain():
            pass
        case _:
            yield from (each for each in t.children(node) if not isinstance(each, t.Closure))


_WHOLE = regex(r"-?\d{1,9}")
_NUMBER = regex(r"-?\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,2})?")


def _fine(node: t.Node) -> re.Pattern[str] | None:
    """The numbers of which the one variable of a part may be any, where it only counts with them."""
    fine, left = _NUMBER, [node]
    for each in left:  # grows while it is walked
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
