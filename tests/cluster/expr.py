"""The expressions that the compiler writes, evaluated as expr-lang does for Argo.

Go knows the types of some values before it evaluates anything; here every mistake of types is found when it is
met.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tests.cluster.golang import GoError, atoi, elements, fields, marshal, parse_float, shown, to_int, wrapped
from tests.cluster.syntax import (
    ADDED,
    PREDICATES,
    Call,
    Element,
    ExprError,
    Literal,
    Member,
    Name,
    Node,
    Operation,
    Unsupported,
    parse,
)

Scope = Mapping[str, Any]

_MORE = {"sprig", "toJson", "jsonpath"}  # names that Argo adds, and the compiler never writes


def known(scope: Scope, path: str) -> bool:
    """Whether a dotted path leads to something in a nested scope; it may be None."""
    at: Any = scope
    for part in path.split("."):
        found = fields(at)
        if found is None or part not in found:
            return path.split(".", maxsplit=1)[0] in ADDED | _MORE
        at = found[part]
    return True


def evaluate(text: str, scope: Scope) -> Any:
    """The value of an expression in a nested scope; `ExprError` where expr-lang reports an error."""
    node = parse(text)
    try:
        return _Evaluation(scope).value(node, None)
    except GoError as error:
        raise ExprError(str(error)) from None
    except RecursionError:
        raise Unsupported("an expression that is nested too deeply") from None


@lru_cache(maxsize=64)
def _from_json(text: str) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(f"invalid character in {constant}")

    return json.loads(text, parse_int=float, parse_constant=refuse)


class _Evaluation:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.known: dict[int, Any] = {}  # of calls that do not ask for the element: Go computes them again

    def value(self, node: Node, element: Any) -> Any:
        match node:
            case Literal(value):
                return value
            case Name(name):
                if name not in self.scope:
                    raise ExprError(f"unknown name {name}")
                return self.scope[name]
            case Element():
                return element
            case Member(of, key):
                return _member(self.value(of, element), self.value(key, element))
            case Call():
                if id(node) in self.known:
                    return self.known[id(node)]
                found = self.called(node, element)
                if not _asks(node):
                    self.known[id(node)] = found
                return found
            case Operation(word, operands):
                return self.operation(word, operands, element)

    def called(self, node: Call, element: Any) -> Any:
        function, arguments = node
        if function in PREDICATES:
            items = elements(given := self.value(arguments[0], element))
            if items is None:
                raise ExprError(f"cannot loop over {_kind(given)}")
            found = [(one, self.value(arguments[1], one)) for one in items]
            if function == "map":
                return [answer for _, answer in found]
            return [one for one, answer in found if _flag(answer, "filter")]
        return _FUNCTIONS[function](*(self.value(argument, element) for argument in arguments))

    def operation(self, word: str, operands: tuple[Node, ...], element: Any) -> Any:
        first = self.value(operands[0], element)
        match word, operands:
            case "?:", (_, one, two):
                return self.value(one if _flag(first, "?") else two, element)
            case "??", (_, second):
                return self.value(second, element) if first is None else first
            case "&&", (_, second):
                return _flag(first, "&&") and _flag(self.value(second, element), "&&")
            case "||", (_, second):
                return _flag(first, "||") or _flag(self.value(second, element), "||")
            case "not" | "!", _:
                return not _flag(first, word)
            case "-" | "+", (_,):
                number = _number(first, word)
                return number if word == "+" else -number
            case _, (_, second):
                return _binary(word, first, self.value(second, element))
            case _:
                raise Unsupported(word)


@lru_cache(maxsize=4096)
def _asks(node: Node) -> bool:
    """Whether a part asks for the element of a predicate that it stands in."""
    match node:
        case Element():
            return True
        case Member(of, key):
            return _asks(of) or _asks(key)
        case Call(function, arguments):
            return any(map(_asks, arguments[:1] if function in PREDICATES else arguments))
        case Operation(_, operands):
            return any(map(_asks, operands))
        case _:
            return False


def _kind(value: Any) -> str:
    names = {type(None): "nil", bool: "bool", int: "int", float: "float64", str: "string"}
    return names.get(value.__class__, str(value.__class__.__name__))


def _flag(value: Any, word: str) -> bool:
    if not isinstance(value, bool):
        raise ExprError(f"invalid operation: {word} ({_kind(value)})")
    return value


def _number(value: Any, word: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ExprError(f"invalid operation: {word} {_kind(value)}")
    return value


def _text(value: Any, function: str) -> str:
    if not isinstance(value, str):
        raise ExprError(f"interface conversion: {_kind(value)} is not string in {function}")
    return value


def _member(of: Any, key: Any) -> Any:
    if (found := fields(of)) is not None:
        return found.get(key)
    if (items := elements(of)) is not None and isinstance(key, (int, float)) and not isinstance(key, bool):
        index = int(key) + (len(items) if key < 0 else 0)
        if not 0 <= index < len(items):
            raise ExprError(f"index out of range: {index} (array length is {len(items)})")
        return items[index]
    raise ExprError(f"cannot fetch {shown(key)} from {'<nil>' if of is None else _kind(of)}")


def _binary(word: str, left: Any, right: Any) -> Any:
    if word in ("==", "!="):
        same = _number_like(left) == _number_like(right) and left == _go(right, left)
        return same if word == "==" else not same
    if isinstance(left, str) and isinstance(right, str) and word in ("+", "<", ">", "<=", ">="):
        return _ORDER[word](left, right)
    if not (_number_like(left) and _number_like(right)):
        raise ExprError(f"invalid operation: {_kind(left)} {word} {_kind(right)}")
    if word == "..":
        return list(range(_whole(left), _whole(right) + 1))
    if word == "/":
        return _divided(float(left), float(right))
    if word == "%":
        raise Unsupported("%")
    if isinstance(left, float) or isinstance(right, float):
        return _ORDER[word](float(left), float(right))
    found = _ORDER[word](left, right)
    return found if isinstance(found, bool) else wrapped(found)


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise Unsupported("a range of floats")
    return value


def _number_like(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _go(value: Any, other: Any) -> Any:
    """A number as Go compares it with another: as a float beside a float."""
    return float(value) if _number_like(value) and isinstance(other, float) else value


def _divided(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return float("nan")
    return float("-inf" if (left < 0) != (str(right)[0] == "-") else "inf")


_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def _as_int(value: Any) -> int:
    if isinstance(value, str):
        return atoi(value)
    number = _number(value, "int")
    return to_int(number) if isinstance(number, float) else number


def _as_float(value: Any) -> float:
    return parse_float(value) if isinstance(value, str) else float(_number(value, "float"))


def _absolute(value: Any) -> int | float:
    number = _number(value, "abs")
    return -number if number < 0 else number  # -0.0 stays


def _json(value: Any) -> str:
    return marshal(value, indent=2)


def _replaced(text: Any, old: Any, new: Any) -> str:
    return _text(text, "replace").replace(_text(old, "replace"), _text(new, "replace"))


def _more(best: Any, value: Any) -> bool:
    return bool(best > value)


def _less(best: Any, value: Any) -> bool:
    return bool(best < value)


def _length(value: Any) -> int:
    found = value if isinstance(value, str) else elements(value) or fields(value)
    if found is None and value not in ([], {}):
        raise ExprError(f"invalid argument for len (type {_kind(value)})")
    return len(found or ())


def _extreme(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def find(*values: Any) -> Any:
        best: Any = None
        for value in values if len(values) != 1 else elements(values[0]) or values[:0]:
            number = _number(value, "min or max")
            if best is None or better(best, number):
                best = number
        return best

    return find


def _decoded(value: Any) -> Any:
    try:
        return _from_json(_text(value, "fromJSON"))
    except ValueError as error:
        raise ExprError(f"invalid JSON {value!r:.200}: {error}") from None


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "int": _as_int,
    "asInt": _as_int,
    "float": _as_float,
    "asFloat": _as_float,
    "string": shown,
    "toJSON": _json,
    "fromJSON": _decoded,
    "len": _length,
    "abs": _absolute,
    "min": _extreme(_more),
    "max": _extreme(_less),
    "replace": _replaced,
}
