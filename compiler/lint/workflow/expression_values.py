"""The variables that an expression depends on, and its result where their values are known."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse

if TYPE_CHECKING:
    from flowdsl.compiler.evaluation.values import Value

ITEM = "item"
_PARAMETERS = (("inputs", "parameters"), ("workflow", "parameters"))


def needs(node: t.Node, known: dict[int, str | None]) -> str | None:
    """The only variable that a node depends on, empty for none; None for several, or for a value of the run.

    It is a parameter, the `item` of a loop, or one of its keys.
    """
    if id(node) in known:
        return known[id(node)]
    names: set[str | None] = set()
    if (path := t.path(node)) is not None:
        if path[0] != "sprig":
            known_one = path[:2] in _PARAMETERS and len(path) == 3
            names = {".".join(path) if known_one or (path[0] == ITEM and len(path) <= 2) else None}
    elif isinstance(node, t.Let):
        names = {None}  # its name is known only inside of it
    else:
        names = {needs(each, known) for each in t.children(node)} - {""}
    found = known[id(node)] = None if len(names) > 1 else next(iter(names), "")
    return found


def scope(variable: str, value: str) -> dict[str, Value]:
    """The scope of an expression that depends on one variable, or on none."""
    if not variable:
        return {}
    root, _, rest = variable.partition(".")
    if root == ITEM:
        return {root: {rest: value} if rest else value}
    kind, _, name = rest.partition(".")
    return {root: {kind: {name: value}}}


@lru_cache(maxsize=4096)
def variable_of(expression: str) -> str | None:
    """The only parameter that an expression depends on, as by `needs`; None also for an invalid expression."""
    try:
        found = needs(parse(expression), {})
    except (GrammarError, RecursionError):
        return None
    return None if found is None or found.partition(".")[0] == ITEM else found


@lru_cache(maxsize=4096)
def outcome(expression: str, variable: str, value: str) -> str | None:
    """The text result of an expression with a value of its variable; None if it fails, which is reported elsewhere."""
    # Few manifests need the functions of expressions.
    from flowdsl.compiler.evaluation.evaluate import text_of, value_of
    from flowdsl.compiler.evaluation.values import ExpressionError

    try:
        return text_of(value_of(parse(expression), scope(variable, value)))
    except ExpressionError:
        return None
