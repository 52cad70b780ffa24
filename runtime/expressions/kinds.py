"""What expr-lang knows of the types in an expression before it evaluates anything, and refuses for that.

Known are the types of literals and of the variables at the roots; what is inside of those may be anything.
Source: checker/checker.go of expr-lang.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar import expression_tree as t
from flowdsl.runtime.expressions.values import ExpressionError, Value, go_type

if TYPE_CHECKING:
    from collections.abc import Mapping

_BOOLEAN = frozenset(("==", "!=", "&&", "||", "in", "matches", "contains", "startsWith", "endsWith"))
_NUMBERS = frozenset(("int", "float64"))
_MAP, _LIST = go_type({}), go_type([])


_POINTERS = {"map": frozenset(("", "index")), "reduce": frozenset(("", "index", "acc"))}
"""What a predicate may ask for beside the element, where it is that of these functions."""
_ELEMENT = frozenset(("",))


def check_kinds(
    node: t.Node,
    scope: Mapping[str, Value],
    bound: frozenset[str] = frozenset(),
    pointers: frozenset[str] = _ELEMENT,
) -> None:
    """Refuse comparisons of what cannot be equal, and unknown pointers, wherever they stand. Raises ExpressionError."""
    if isinstance(node, t.Let):
        check_kinds(node.value, scope, bound, pointers)
        check_kinds(node.body, scope, bound | {node.name}, pointers)
        return
    if isinstance(node, t.Element) and node.name not in pointers:
        raise ExpressionError(f"unknown pointer #{node.name}")
    inner = _POINTERS.get(node.function, _ELEMENT) if isinstance(node, t.Call) else _ELEMENT
    for part in t.children(node):
        check_kinds(part, scope, bound, inner if isinstance(part, t.Closure) else pointers)
    if not isinstance(node, t.Binary) or node.operator not in ("==", "!=", "in"):
        return
    left, right = _kind(node.left, scope, bound), _kind(node.right, scope, bound)
    if node.operator != "in":
        if not _comparable(left, right):
            raise ExpressionError(f"invalid operation: {node.operator} (mismatched types {left} and {right})")
    elif right == _MAP:
        if left not in ("", "string"):
            raise ExpressionError(f"cannot use {left} as type string in map key")
    elif isinstance(node.right, t.Items) and not _comparable(left, _of_all(node.right, scope, bound)):
        of_all = _of_all(node.right, scope, bound)
        raise ExpressionError(f"cannot use {left} as type {of_all} in array")


def _comparable(left: str, right: str) -> bool:
    return not left or not right or left == right or (left in _NUMBERS and right in _NUMBERS)


def _kind(node: t.Node, scope: Mapping[str, Value], bound: frozenset[str]) -> str:
    """The type as Go calls it, or nothing where it is not known."""
    match node:
        case t.Literal(bool() | int() | float() | str() as value):
            return go_type(value)
        case t.Name(name) if name not in bound:
            found = scope.get(name)
            return "string" if isinstance(found, str) else _MAP if isinstance(found, dict) else ""
        case t.Mapping():
            return _MAP
        case t.Items():
            return _LIST
        case t.Unary("!"):
            return "bool"
        case t.Binary(operator) if operator in _BOOLEAN or operator in t.COMPARISONS:
            return "bool"
        case _:
            return ""


def _of_all(node: t.Items, scope: Mapping[str, Value], bound: frozenset[str]) -> str:
    """The type that all items of a list have."""
    kinds = {_kind(one, scope, bound) for one in node.items}
    return kinds.pop() if len(kinds) == 1 else ""
