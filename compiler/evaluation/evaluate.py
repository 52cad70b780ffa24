"""Evaluates an expr-lang expression in a scope of nested mappings.

Source: github.com/expr-lang/expr 1.17.8 (compiler, vm), and getFuncMap in util/expr/env/env.go of Argo Workflows 4.1.
"""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.chance import CHANCES
from flowdsl.compiler.evaluation.functions import FUNCTIONS
from flowdsl.compiler.evaluation.lists import ordered
from flowdsl.compiler.evaluation.operators import binary, cut, flag, member, unary
from flowdsl.compiler.evaluation.sprig import SPRIG
from flowdsl.compiler.evaluation.times import method
from flowdsl.compiler.evaluation.values import (
    AnyMap,
    ExpressionError,
    NotHere,
    Uncompiled,
    go_kind,
    go_type,
    json_of,
    shown,
    unconverted,
)
from flowdsl.compiler.evaluation.versions import method as method_of_version
from flowdsl.compiler.tree import is_number
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar import expression_types as types
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.functions import builtins
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flowdsl.compiler.evaluation.values import Value


def evaluate(text: str, scope: Mapping[str, Value]) -> Value:
    """The value of an expression. Raises ExpressionError where Argo reports one."""
    try:
        node = parse(text)
    except GrammarError as error:
        raise Uncompiled(f"unexpected token at {error.start}: {error}") from None
    try:
        return value_of(node, scope)
    except NotHere:
        raise
    except ExpressionError as error:
        raise type(error)(error.quoting(text)) from None


def truth(text: str, scope: Mapping[str, Value]) -> bool:
    """The value of an expression that has to be a boolean. Raises ExpressionError. Source: EvalBool in util/expr."""
    try:
        value = evaluate(text, scope)
    except (NotHere, Uncompiled):
        raise
    except ExpressionError as error:
        raise ExpressionError(f"unable to evaluate expression '{text}': {error}") from None
    if not isinstance(value, bool):
        raise ExpressionError(f"unable to cast expression result '{_as_text(value)}' to bool")
    return value


def _as_text(value: Value) -> str:
    """fmt.Sprintf("%s") of a value that is not a list or an object."""
    if isinstance(value, (str, list, dict)):
        return shown(value)
    return "%!s(<nil>)" if value is None else f"%!s({go_type(value)}={shown(value)})"


def value_of(node: t.Node, scope: Mapping[str, Value]) -> Value:
    """The value of a parsed expression. Raises ExpressionError where Argo reports one."""
    try:
        _check_names(node, scope, frozenset())
        if (mismatch := types.refusal(node, partial(_root, scope))) is not None:
            raise Uncompiled(str(mismatch), mismatch.node)
        return _Evaluation(scope).of(node, _Around({}, ()))
    except RecursionError:
        raise ExpressionError("the expression is nested too deeply") from None


class Absent(NamedTuple):
    """A key that is missing in a JSON object: the object's expression and its keys."""

    key: str
    of: t.Node
    known: tuple[str, ...]


def absent(text: str, scope: Mapping[str, Value]) -> Absent | None:
    """The last missing key that an expression looks up in an object; None if there is none, or it is invalid."""
    evaluation = _Watched(scope)
    with contextlib.suppress(ExpressionError, GrammarError, RecursionError):
        evaluation.of(parse(text), _Around({}, ()))
    return evaluation.absent


def _root(scope: Mapping[str, Value], name: str) -> types.Type:
    """The known type of a variable; the types of its contents are unknown."""
    value = scope.get(name)
    return types.STRING if isinstance(value, str) else types.MAP if isinstance(value, dict) else types.ANY


def text_of(value: Value) -> str:
    """The text that takes the place of `{{=...}}`: a text as it is, everything else as JSON; nil is an error."""
    if value is None:
        raise ExpressionError("failed to evaluate expression: the result is nil")
    return value if isinstance(value, str) else json_of(value)


def _check_names(node: t.Node, scope: Mapping[str, Value], bound: frozenset[str]) -> None:
    """expr-lang refuses an unknown name, before it evaluates anything, but for those passed to a function of sprig."""
    match node:
        case t.Method(t.Member(t.Name("sprig")), arguments) if "sprig" not in bound:
            named = (part.name for each in arguments for part in t.walk(each) if isinstance(part, t.Name))
            bound = bound.union(named)
        case t.Name(name):
            if name not in scope and name not in bound and name not in ("sprig", *_ADDED):
                raise Uncompiled(f"unknown name {name}", node)
        case t.Call(name) if name not in builtins() and name not in bound:
            raise Uncompiled(f"unknown name {name}", node)
        case t.Let(name, value, body):
            _check_names(value, scope, bound)
            _check_names(body, scope, bound | {name})
            return
        case _:
            pass
    for part in t.children(node):
        _check_names(part, scope, bound)


_ADDED = frozenset(("asInt", "asFloat", "toJson", "jsonpath"))


class _Element(NamedTuple):
    """The values of `#`, `#index` and `#acc` in a predicate."""

    value: Value
    position: int
    acc: Value


class _Around(NamedTuple):
    """The context of a node: the names bound by `let`, and the elements, the innermost last."""

    names: Mapping[str, Value]
    elements: tuple[_Element, ...]


class _Missing(Exception):
    """A value before a `?.` is nil."""


class _Evaluation:
    def __init__(self, scope: Mapping[str, Value]) -> None:
        self.scope = scope
        self.known: dict[int, Value] = {}  # of calls in a predicate that do not use its element

    def of(self, node: t.Node, around: _Around) -> Value:
        try:
            match node:
                case t.Literal(value):
                    return value
                case t.Name(name):
                    if name in around.names:
                        return around.names[name]
                    return SPRIG if name == "sprig" and name not in self.scope else self.scope.get(name)
                case t.Element(name):
                    value, index, acc = around.elements[-1]
                    return index if name == "index" else acc if name == "acc" else value
                case t.Member(of, key, optional):
                    base = self.of(of, around)
                    if base is None and optional:
                        raise _Missing
                    return member(base, self.of(key, around))
                case t.Chain(of):
                    try:
                        return self.of(of, around)
                    except _Missing:
                        return None
                case t.Slice(of, first, last):
                    limits = [None if each is None else self.of(each, around) for each in (first, last)]
                    return cut(self.of(of, around), *limits)
                case t.Call():
                    return self.called(node, around)
                case t.Method(function, arguments):
                    return self.method(function, [self.of(each, around) for each in arguments], around)
                case t.Closure(body):
                    return self.of(body, around)
                case t.Unary(word, operand):
                    return unary(word, self.of(operand, around))
                case t.Binary():
                    return self.binary(node, around)
                case t.Conditional(condition, yes, no):
                    return self.of(yes if flag(self.of(condition, around)) else no, around)
                case t.Items(items):
                    return [self.of(each, around) for each in items]
                case t.Mapping(pairs):
                    return {_key(self.of(key, around)): self.of(value, around) for key, value in pairs}
                case t.Let(name, value, body):
                    return self.of(
                        body, around._replace(names={**around.names, name: self.of(value, around)})
                    )
                case t.Sequence(parts):
                    return [self.of(each, around) for each in parts][-1]
        except ExpressionError as error:
            error.node = error.node or node
            raise

    def binary(self, node: t.Binary, around: _Around) -> Value:
        word = node.operator
        if word == "??":
            try:
                left = self.of(node.left, around)
            except _Missing:
                left = None
            return self.of(node.right, around) if left is None else left
        if word in ("&&", "||"):
            return self.logic(node, word == "||", around)
        return binary(word, self.of(node.left, around), self.of(node.right, around))

    def logic(self, node: t.Binary, decisive: bool, around: _Around) -> Value:
        """`&&` or `||`; if the left side does not decide, the result is the right one, whatever that is.

        If one side is a constant, the result is the other side, or that is not even computed.
        """
        sides = (_constant(node.left), _constant(node.right))
        if decisive in sides:
            return decisive
        for side, other in zip(sides, (node.right, node.left), strict=True):
            if side is not None:
                return self.of(other, around)
        left = flag(self.of(node.left, around))
        return left if left is decisive else self.of(node.right, around)

    def called(self, node: t.Call, around: _Around) -> Value:
        if id(node) in self.known:
            return self.known[id(node)]
        name, arguments = node.function, node.arguments
        if len(arguments) > 1 and isinstance(arguments[1], t.Closure):
            found = self.predicate(name, arguments, around)
        else:
            signature = builtins()[name]
            most = signature.most
            if len(arguments) < signature.least or (most is not None and len(arguments) > most):
                few = len(arguments) < signature.least
                raise ExpressionError(f"{'not enough' if few else 'too many'} arguments to call {name}")
            values = [self.of(each, around) for each in arguments]
            found = FUNCTIONS[name](*values)
        if around.elements and not around.names and not _asks(node):
            self.known[id(node)] = found
        return found

    def method(self, function: t.Member, arguments: list[Value], around: _Around) -> Value:
        name = function.key
        base = self.of(function.of, around)
        if base is None and function.optional:
            raise _Missing
        if base is SPRIG and isinstance(name, t.Literal):
            if (made := SPRIG.get(str(name.value))) is None:
                raise ExpressionError("invalid operation: cannot call nil")
            return made(*arguments)
        called = str(getattr(name, "value", ""))
        own = method(base, called) or method_of_version(base, called)
        if own is None:
            raise ExpressionError(f"cannot call {called} of {go_type(base)}")
        try:
            return own(base, *arguments)
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ExpressionError(f"cannot call {called} of {go_type(base)}: {error}") from None

    def predicate(self, name: str, arguments: tuple[t.Node, ...], around: _Around) -> Value:
        items = elements(self.of(arguments[0], around))
        asked = arguments[1]

        def ask(index: int, acc: Value = None) -> Value:
            element = _Element(items[index], index, acc)
            return self.of(asked, around._replace(elements=(*around.elements, element)))

        def flags(order: Iterator[int]) -> Iterator[int]:
            return (index for index in order if flag(ask(index)))

        forth = iter(range(len(items)))
        back = iter(range(len(items) - 1, -1, -1))
        match name:
            case "all":
                return all(flag(ask(index)) for index in forth)
            case "any" | "none":
                return any(True for _ in flags(forth)) == (name == "any")
            case "one":
                return sum(1 for _ in flags(forth)) == 1
            case "count":
                return sum(1 for _ in flags(forth))
            case "filter":
                return [items[index] for index in flags(forth)]
            case "map":
                return [ask(index) for index in forth]
            case "find" | "findLast":
                return next((items[index] for index in flags(forth if name == "find" else back)), None)
            case "findIndex" | "findLastIndex":
                return next(flags(forth if name == "findIndex" else back), None)
            case "sum":
                return added([ask(index) for index in forth])
            case "groupBy":
                groups = AnyMap()
                for index in forth:
                    groups.setdefault(_key(ask(index), any_key=True), []).append(items[index])
                return groups
            case "sortBy":
                order = self.of(arguments[2], around) if len(arguments) > 2 else "asc"
                keys = [ask(index) for index in forth]
                return [items[index] for index in ordered(keys, order)]
            case _:
                return self.reduced(items, ask, [self.of(each, around) for each in arguments[2:]])

    def reduced(self, items: list[Value], ask: Callable[[int, Value], Value], given: list[Value]) -> Value:
        if not given and not items:
            raise ExpressionError("reduce of empty array with no initial value")
        acc = given[0] if given else items[0]
        for index in range(0 if given else 1, len(items)):
            acc = ask(index, acc)
        return acc


def _constant(node: t.Node) -> bool | None:
    """The value of a node that expr-lang folds to a constant. Source: optimizer/fold.go."""
    match node:
        case t.Literal(bool() as value):
            return value
        case t.Unary("!", operand):
            inner = _constant(operand)
            return None if inner is None else not inner
        case t.Binary("==", t.Literal(one), t.Literal(two)) if type(one) is type(two) in (str, int, bool):
            return one == two
        case t.Binary("&&" | "||" as word, left, right):
            decisive, sides = word == "||", {_constant(left), _constant(right)}
            return decisive if decisive in sides else None if None in sides else not decisive
        case _:
            return None


def _asks(node: t.Node) -> bool:
    """Whether a node uses the element of its predicate, or differs in each evaluation."""
    if isinstance(node, t.Element) or _differs(node):
        return True
    if isinstance(node, t.Call) and len(node.arguments) > 1 and isinstance(node.arguments[1], t.Closure):
        return any(map(_asks, (node.arguments[0], *node.arguments[2:]))) or _asks_outside(node.arguments[1])
    return any(map(_asks, t.children(node)))


def _differs(node: t.Node) -> bool:
    """Whether a node is a function with a different result in each call."""
    return isinstance(node, t.Member) and isinstance(node.key, t.Literal) and node.key.value in CHANCES


def _asks_outside(closure: t.Closure) -> bool:
    """Whether a predicate uses more than its own element; unknown for names bound by `let`."""
    return any(isinstance(each, t.Let) or _differs(each) for each in t.walk(closure))


def elements(value: Value) -> list[Value]:
    """What a predicate iterates over: the items of a list, the bytes of a text. Raises ExpressionError."""
    if isinstance(value, list):
        found: list[Value] = value
        return found
    if isinstance(value, (str, bytes)):
        return list(value.encode() if isinstance(value, str) else value)
    of = "zero" if value is None else go_kind(value)
    raise ExpressionError(f"reflect: call of reflect.Value.Len on {of} Value")


def added(values: list[Value]) -> Value:
    """The sum of numbers; 0 of nothing."""
    total: Value = 0
    for value in values:
        total = binary("+", total, value) if is_number(value) else binary("+", value, total)
    return total


class _Watched(_Evaluation):
    """An evaluation that records the last missing key of a JSON object, with its existing keys."""

    absent: Absent | None = None

    def of(self, node: t.Node, around: _Around) -> Value:
        value = super().of(node, around)
        if value is None and isinstance(node, t.Member) and _reads(node.of):
            base, key = super().of(node.of, around), super().of(node.key, around)
            if isinstance(base, dict) and isinstance(key, str) and key not in base:
                self.absent = Absent(key, node.of, tuple(map(str, base)))
        return value


def _reads(node: t.Node) -> bool:
    """Whether a value is parsed from a text: all others are variables, which are looked up before."""
    return isinstance(node, t.Call) or any(map(_reads, t.children(node)))


def _key(value: Value, any_key: bool = False) -> Value:
    if isinstance(value, str) or (any_key and not isinstance(value, (list, dict))):
        return value
    if any_key:
        raise ExpressionError(f"hash of unhashable type {go_type(value)}")
    raise unconverted(value, "string")
