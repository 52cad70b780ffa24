"""The type checker of expr-lang, which rejects expressions before they are evaluated.

Known are the types of literals, of the results of expr-lang's functions, and of the root variables. What these contain,
and the results of Argo's own functions, may have any type.
Source: checker/checker.go and builtin/builtin.go of github.com/expr-lang/expr 1.17.8, verified with Argo 4.1.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.functions import builtins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Type = tuple[str, ...]
"""A type as Go names it; for a list, `list` and the type of its elements; empty if it is unknown.

A map has texts as keys, if nothing else follows.
"""

ANY: Type = ()
BOOL, INT, FLOAT, STRING = ("bool",), ("int",), ("float64",), ("string",)
LIST, MAP, TIME, DURATION = ("list",), ("map",), ("time.Time",), ("time.Duration",)
LOCATION = ("time.Location",)

_SHOWN = {"list": "[]interface {}", "map": "map[string]interface {}"}
_BOOLEAN = frozenset(("==", "!=", "&&", "||", "in", "matches", "contains", "startsWith", "endsWith"))
_NUMBERS = (INT, FLOAT)
_OF_KINDS: dict[str, Type] = {
    "text": STRING,
    "whole": INT,
    "flag": BOOL,
    "list": LIST,
    "map": MAP,
    "time": TIME,
}
_RESULTS: dict[str, Type] = {
    **dict.fromkeys(("asInt", "asFloat", "jsonpath", "take"), ANY),  # declared by themselves
    **dict.fromkeys(("fromPairs", "groupBy"), (*MAP, "any")),  # whose keys may be anything
    **dict.fromkeys(("ceil", "floor", "round", "float"), FLOAT),
    **dict.fromkeys(("split", "splitAfter"), (*LIST, *STRING)),
    "duration": DURATION,
    "timezone": LOCATION,
}
_OF_ELEMENTS = frozenset(("find", "findLast", "get", "sum"))
_LIKE_FIRST = frozenset(("abs", "filter", "sortBy"))
_OF_NUMBERS = frozenset(("max", "min", "mean", "median"))
_ASKING = frozenset(
    ("all", "none", "any", "one", "filter", "count", "find", "findLast", "findIndex", "findLastIndex")
)
"""The functions whose predicate is a condition."""
_OVER_LISTS = _ASKING | frozenset(("map", "sum", "groupBy", "sortBy", "reduce"))
_POINTERS = {"map": frozenset(("", "index")), "reduce": frozenset(("", "index", "acc"))}
"""The pointers that a predicate may use besides the element, in these functions."""
_ELEMENT = frozenset(("",))


class Mismatch(Exception):
    """The error of expr-lang, in its words, its position, and the types of both sides (or twice of the only one)."""

    def __init__(self, message: str, node: t.Node, *sides: Type) -> None:
        super().__init__(message)
        self.node = node
        self.sides = sides


def refusal(node: t.Node, root: Callable[[str], Type]) -> Mismatch | None:
    """The type error of expr-lang in an expression, if any; `root` gives the types of variables."""
    try:
        _Checker(root).of(node, {}, ANY, _ELEMENT)
    except Mismatch as mismatch:
        return mismatch
    return None


def shown(type: Type) -> str:
    """A type as in Go's messages."""
    return _SHOWN.get(type[0], type[0]) if type else "interface {}"


class _Checker:
    def __init__(self, root: Callable[[str], Type]) -> None:
        self.root = root

    def of(self, node: t.Node, bound: Mapping[str, Type], element: Type, pointers: frozenset[str]) -> Type:
        """The type of a node, given names bound by `let` and, in a predicate, an element."""

        def inner(part: t.Node) -> Type:
            return self.of(part, bound, element, pointers)

        match node:
            case t.Literal(bool()):
                return BOOL
            case t.Literal(int()):
                return INT
            case t.Literal(float()):
                return FLOAT
            case t.Literal(str()):
                return STRING
            case t.Name(name):
                return bound[name] if name in bound else self.root(name)
            case t.Element(name):
                if name not in pointers:
                    raise Mismatch(f"unknown pointer #{name}", node)
                return element if not name else INT if name == "index" else ANY
            case t.Member(of, key):
                return _member(node, inner(of), inner(key))
            case t.Slice(of, first, last):
                found = inner(of)
                for limit in (first, last):
                    if limit is not None:
                        _sliced(node, found, inner(limit))
                return found if found[:1] in (STRING, LIST) else ANY
            case t.Call():
                return self.call(node, bound, element, pointers)
            case t.Method(t.Member(t.Name("sprig")), _) if "sprig" not in bound:
                return ANY  # expr-lang knows no types here, nor checks the arguments
            case t.Unary(operator, operand):
                found = inner(operand)
                if found not in (ANY, *((BOOL,) if operator == "!" else _NUMBERS)):
                    words = f"invalid operation: {operator} (mismatched type {shown(found)})"
                    raise Mismatch(words, node, found, found)
                return BOOL if operator == "!" else found
            case t.Binary(_, left, right):
                return _binary(node, inner(left), inner(right))
            case t.Conditional(condition, yes, no):
                found = inner(condition)
                if found not in (ANY, BOOL):
                    words = f"non-bool expression (type {shown(found)}) used as condition"
                    raise Mismatch(words, condition)
                return _same((inner(yes), inner(no)))
            case t.Let(name, value, body):
                return self.of(body, {**bound, name: inner(value)}, element, pointers)
            case t.Items(items):
                return (*LIST, *_same(tuple(map(inner, items))))
            case _:
                parts = [inner(part) for part in t.children(node)]
                if isinstance(node, t.Mapping):
                    return MAP
                return parts[-1] if parts and isinstance(node, (t.Chain, t.Sequence)) else ANY

    def call(self, node: t.Call, bound: Mapping[str, Type], element: Type, pointers: frozenset[str]) -> Type:
        """The result type of a function, also of the elements of a list."""
        function = node.function
        first: Type = ANY
        predicate: Type | None = None
        if function in _OF_NUMBERS:
            return _of_numbers(node, [self.of(one, bound, element, pointers) for one in node.arguments])
        for position, argument in enumerate(node.arguments):
            if isinstance(argument, t.Closure):
                among = first[1:] if first[:1] == LIST else ANY
                inner = _POINTERS.get(function, _ELEMENT)
                predicate = self.of(argument.body, bound, among, inner)
                if function in _ASKING and predicate not in (ANY, BOOL):
                    raise Mismatch(f"predicate should return boolean (got {shown(predicate)})", argument)
            elif position == 0:
                first = self.of(argument, bound, element, pointers)
                _given(node, first)
            else:
                self.of(argument, bound, element, pointers)
        if function in _OF_ELEMENTS:
            whole = predicate[:1] if function == "sum" and predicate is not None else first[1:]
            return whole if first[:1] == LIST else ANY
        if function == "map":
            return (*LIST, *(predicate or ANY))
        if function in _LIKE_FIRST:
            return first
        if function in _RESULTS:
            return _RESULTS[function]
        signature = builtins().get(function)
        return (
            _OF_KINDS.get(signature.result, ANY) if signature is not None and function not in bound else ANY
        )


def _given(node: t.Call, first: Type) -> None:
    """Raises Mismatch for something else than a list where a function takes only lists."""
    if not first or first[:1] == LIST:
        return
    if node.function in _OVER_LISTS:
        words = f"builtin {node.function} takes only array (got {shown(first)})"
        raise Mismatch(words, node.arguments[0])
    if node.function in ("first", "last"):
        raise Mismatch(f"cannot get {node.function} element from {shown(first)}", node)


def _of_numbers(node: t.Call, given: list[Type]) -> Type:
    """The result type of a function of numbers. Source: validateAggregateFunc in builtin/validation.go."""
    for one in given:
        if one[:1] in (ANY, LIST):
            return ANY
        if one not in (*_NUMBERS, DURATION):
            raise Mismatch(f"invalid argument for {node.function} (type {shown(one)})", node)
    return given[0] if given else ANY


def _same(types: tuple[Type, ...]) -> Type:
    """The common type."""
    return types[0] if types and all(one == types[0] for one in types) else ANY


def _member(node: t.Member, of: Type, key: Type) -> Type:
    if of == STRING and key in _NUMBERS:
        raise Mismatch(f"type string[{shown(key)}] is undefined", node, of, key)
    if of == STRING and isinstance(node.key, t.Literal) and isinstance(node.key.value, str):
        raise Mismatch(f"type string has no field {node.key.value}", node, of, key)
    if of[:1] == LIST and key not in (ANY, INT):
        words = f"array elements can only be selected using an integer (got {shown(key)})"
        raise Mismatch(words, node, of, key)
    return of[1:] if of[:1] == LIST else ANY


def _sliced(node: t.Slice, of: Type, limit: Type) -> None:
    if of[:1] in (STRING, LIST) and limit not in (ANY, INT):
        raise Mismatch(f"non-integer slice index {shown(limit)}", node, of, limit)


def _binary(node: t.Binary, left: Type, right: Type) -> Type:
    operator = node.operator
    if not (_comparable(left, right) if operator in ("==", "!=") else _fitting(operator, left, right)):
        words = f"invalid operation: {operator} (mismatched types {shown(left)} and {shown(right)})"
        raise Mismatch(words, node, left, right)
    if operator == "in" and right == MAP and left not in (ANY, STRING):
        raise Mismatch(f"cannot use {shown(left)} as type string in map key", node, left, right)
    if operator == "in" and right[:1] == LIST and not _comparable(left, right[1:]):
        words = f"cannot use {shown(left)} as type {shown(right[1:])} in array"
        raise Mismatch(words, node, left, right)
    if operator in _BOOLEAN or operator in t.COMPARISONS:
        return BOOL
    if operator == "..":
        return (*LIST, *INT)
    if operator == "??":
        return _same((left, right))
    if left in _NUMBERS and right in _NUMBERS:
        return (
            INT if operator == "%" or (left == right == INT and operator not in ("/", "**", "^")) else FLOAT
        )
    return _SUMS.get((operator, left, right), ANY)


_SUMS: dict[tuple[str, Type, Type], Type] = {
    ("+", STRING, STRING): STRING,
    ("+", TIME, DURATION): TIME,
    ("+", DURATION, TIME): TIME,
    ("+", DURATION, DURATION): DURATION,
    ("-", TIME, TIME): DURATION,
    ("-", TIME, DURATION): TIME,
    ("-", DURATION, DURATION): DURATION,
    ("*", DURATION, DURATION): DURATION,
    **{("*", DURATION, number): DURATION for number in _NUMBERS},
    **{("*", number, DURATION): DURATION for number in _NUMBERS},
}
"""The result types of `+`, `-` and `*` for other values than numbers."""


_OPERANDS: dict[str, tuple[Type, ...]] = {
    **dict.fromkeys(("+", *t.COMPARISONS), (*_NUMBERS, STRING, TIME, DURATION)),
    "-": (*_NUMBERS, TIME, DURATION),
    "*": (*_NUMBERS, DURATION),
    **dict.fromkeys(("/", "**", "^"), _NUMBERS),
    **dict.fromkeys(("%", ".."), (INT,)),
    **dict.fromkeys(("&&", "||"), (BOOL,)),
    **dict.fromkeys(("matches", "contains", "startsWith", "endsWith"), (STRING,)),
}
"""The types that an operator takes; both sides are of the same type, or in `_SUMS`, or numbers."""


def _fitting(operator: str, left: Type, right: Type) -> bool:
    """Whether an operator other than `==` and `!=` takes values of two types."""
    if operator == "in":
        return (
            right[:1] in (ANY, MAP, LIST)
            or (right == STRING and not left)
            or (right in (TIME, LOCATION) and left in (ANY, STRING))  # structs, whose fields have names
        )
    taken = _OPERANDS.get(operator)
    if taken is None:
        return True
    if not left or not right:
        return (left or right) in (ANY, *taken)
    if left in _NUMBERS and right in _NUMBERS:
        return left in taken and right in taken
    if operator in ("+", "-", "*"):
        return (operator, left, right) in _SUMS
    return left == right and left in taken


def _comparable(left: Type, right: Type) -> bool:
    return not left or not right or left[0] == right[0] or (left in _NUMBERS and right in _NUMBERS)
