"""The variables that an expression depends on, and its result where their values are known."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse

if TYPE_CHECKING:
    from flowdsl.compiler.evaluation.values import Value

_PARAMETERS = (("inputs", "parameters"), ("workflow", "parameters"))


def needs(node: t.Node, known: dict[int, str | None]) -> str | None:
    """The variable that a part is computed of, nothing if of none; None if of several, or of what the run brings."""
    if id(node) in known:
        return known[id(node)]
    names: set[str | None] = set()
    if (path := t.path(node)) is not None:
        if path[0] != "sprig":
            names = {".".join(path) if path[:2] in _PARAMETERS and len(path) == 3 else None}
    elif isinstance(node, t.Let):
        names = {None}  # its name is known inside of it only
    else:
        names = {needs(each, known) for each in t.children(node)} - {""}
    found = known[id(node)] = None if len(names) > 1 else next(iter(names), "")
    return found


def scope(variable: str, value: str) -> dict[str, Value]:
    """What an expression knows that is computed of one variable, or of none."""
    if not variable:
        return {}
    root, kind, name = variable.split(".", 2)
    return {root: {kind: {name: value}}}


@lru_cache(maxsize=4096)
def variable_of(expression: str) -> str | None:
    """The variable that an expression is computed of, as `needs` has it; None also for what is no expression."""
    try:
        return needs(parse(expression), {})
    except (GrammarError, RecursionError):
        return None


@lru_cache(maxsize=4096)
def outcome(expression: str, variable: str, value: str) -> str | None:
    """The text that an expression becomes with a value of its variable; None where it fails, as is told elsewhere."""
    # The functions of expressions are needed for few manifests.
    from flowdsl.compiler.evaluation.evaluate import text_of, value_of
    from flowdsl.compiler.evaluation.values import ExpressionError

    try:
        return text_of(value_of(parse(expression), scope(variable, value)))
    except ExpressionError:
        return None
