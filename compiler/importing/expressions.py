"""Converts expressions and comparisons of Argo to expressions of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.model import OTHER, SIGNS, Asked, Value
from flowdsl.compiler.importing.ports import Port, as_text, is_number, number
from flowdsl.compiler.importing.texts import in_text, joined
from flowdsl.grammar import expression as expr
from flowdsl.grammar import expression_tree as tree
from flowdsl.grammar import govaluate
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.reading import Scope

#: What govaluate takes for a number or bool when it is not quoted.
_SCALAR = regex(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)|true|false")


def asked(node: object, side: Callable[[Any], Value | None]) -> Asked | bool | None:
    """A condition in one of Argo's two languages; `side` reads the operands of comparisons."""
    match node:
        case govaluate.Flag(value) | tree.Literal(bool() as value):
            return value
        case govaluate.Unary("!", operand) | tree.Unary("!", operand):
            found = asked(operand, side)
            return not found if isinstance(found, bool) else None if found is None else found.negated()
        case govaluate.Binary("&&" | "||" as sign, left, right) | tree.Binary(
            "&&" | "||" as sign, left, right
        ):
            return _both(sign, asked(left, side), asked(right, side))
        case govaluate.Binary("in", left, govaluate.Several(items)) | tree.Binary(
            "in", left, tree.Items(items)
        ):
            held: Asked | bool | None = False
            for item in items:
                one = (
                    False
                    if _differ(left, item)
                    else _compared("==", side(left), side(item), _numbers("==", left, item))
                )
                held = _both("||", held, one)
            return held
        case govaluate.Binary(sign, left, right) | tree.Binary(sign, left, right) if sign in OTHER:
            if sign in ("==", "!=") and _differ(left, right):
                return sign == "!="
            return _compared(sign, side(left), side(right), _numbers(sign, left, right))
        case govaluate.Text() if (alone := side(node)) is not None and alone.exact is None:
            return _compared("==", alone, literal("true"), False)
        case _:
            return None


def literal(text: str) -> Value:
    """A constant operand."""
    return Value(lambda: text, None, text)


def _both(sign: str, left: Asked | bool | None, right: Asked | bool | None) -> Asked | bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, bool) or isinstance(right, bool):
        known, other = (left, right) if isinstance(left, bool) else (right, left)
        return other if known == (sign == "&&") else known
    parts = [
        inner
        for one in (left, right)
        for inner in (one.parts if one.parts and one.sign == SIGNS[sign] else (one,))
    ]
    return Asked(SIGNS[sign], tuple(parts))


def _numbers(sign: str, left: object, right: object) -> bool:
    """Whether the operands are compared as numbers, if they are numbers.

    govaluate parses what is not quoted by its form; expr-lang compares texts, unless they are converted.
    """
    sides = left, right
    bare = all(isinstance(one, govaluate.Text) and not one.quoted for one in sides)
    return any(map(_counts, sides)) or (bare and sign not in ("==", "!="))


def _counts(node: object) -> bool:
    """Whether an operand is certainly a number."""
    match node:
        case govaluate.Number() | govaluate.Unary("-", govaluate.Number()):
            return True
        case tree.Literal(value):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case tree.Call(name):
            return name in _CASTS
        case tree.Binary("-" | "*" | "/"):
            return True
        case tree.Binary("+", left, right):
            return _counts(left) or _counts(right)
        case tree.Unary("-"):
            return True
        case _:
            return False


#: The functions of expr-lang that convert a text to a number.
_CASTS = ("asInt", "asFloat", "int", "float")


def _differ(left: object, right: object) -> bool:
    """Whether one side is a quoted text, and the other one a number or bool of the same spelling: never equal.

    The type of an unquoted word is that of its value at evaluation.
    """
    for one, other in ((left, right), (right, left)):
        if not (isinstance(one, govaluate.Text) and one.quoted):
            continue
        if _counts(other) or isinstance(other, govaluate.Flag):
            return True
        if isinstance(other, govaluate.Text) and not other.quoted and _SCALAR.fullmatch(one.value):
            return True
    return False


def _compared(sign: str, left: Value | None, right: Value | None, numbers: bool) -> Asked | bool | None:
    """A comparison; its operands have one type."""
    if left is None or right is None:
        return None
    if left.held is not None or right.held is not None:
        return _ran(sign, left, right)
    if left.exact is not None and right.exact is not None:
        known = _exact(left.exact, numbers), _exact(right.exact, numbers)
        return (known[0] == known[1]) == (sign == "==") if sign in ("==", "!=") else None
    if left.exact is not None:
        left, right = right, left
        sign = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(sign, sign)
    if left.port is None or (right.port is None and right.exact is None):
        return None
    port, exact = left.port, right.exact
    if numbers:
        for one in (left, right):
            if one.port is not None:
                one.port.asked(number=True)
            elif not is_number(str(one.exact)):
                return None
        if exact is None:
            return Asked(sign, (), (left, right), True)
        port.compare(exact)
        return Asked(sign, (), (left, Value(lambda: number(exact))), True)
    port.asked(text=sign not in ("==", "!="))
    if exact is not None:
        port.take(exact, compared=True)
        return Asked(sign, (), (left, Value(lambda: port.value(exact))))
    if right.port is not None:
        port.join(right.port)
    return Asked(sign, (), (left, right))


def _ran(sign: str, left: Value, right: Value) -> Asked | bool | None:
    """Whether a task has run, which is known to have succeeded or to be skipped."""
    held, phase = (left.held, right.exact) if left.held is not None else (right.held, left.exact)
    if held is None or phase is None or sign not in ("==", "!="):
        return None
    if phase not in ("Succeeded", "Skipped"):
        return sign == "!="
    return held if (phase == "Succeeded") == (sign == "==") else held.negated()


def _exact(text: str, numbers: bool) -> str | float:
    """The value of a literal that govaluate compares."""
    try:
        return float(text) if numbers else text
    except ValueError:
        return text


def expression(text: str, scope: Scope) -> Value | None:
    """An expression as a value."""
    try:
        found = _value(expr.parse(text), scope)
    except GrammarError:
        return None
    return None if found is None or found.held is not None else found


def truth(text: str, scope: Scope) -> Asked | bool | None:
    """An expression as a condition. Raises GrammarError."""
    return asked(expr.parse(text), lambda node: _value(node, scope))


def _value(node: tree.Node, scope: Scope) -> Value | None:
    match node:
        case tree.Literal(bool() | int() | float() | str() as value):
            return literal(as_text(value))
        case tree.Call(name, (argument,)) if name in _CASTS:
            found = _value(argument, scope)
            if found is not None and found.port is not None:
                found.port.asked(number=True)
            return found
        case tree.Unary("-", tree.Literal(int() | float() as value)):
            return literal(as_text(-value))
        case tree.Call("string", (argument,)):
            found = _value(argument, scope)
            if found is None or found.port is None or not found.port.root.number:
                return found
            return joined(["", found])  # a text, to which others are added
        case tree.Binary("??", left, right):
            return _either(_value(left, scope), _value(right, scope))
        case tree.Conditional():
            return _whichever(node, scope)
        case tree.Binary("+" | "-" | "*" | "/" as sign, left, right):
            return _computed(sign, _value(left, scope), _value(right, scope))
        case _:
            named = tree.path(node)
            return None if named is None else scope.variable(named)


def _computed(sign: str, left: Value | None, right: Value | None) -> Value | None:
    if left is None or right is None or (left.port is None and right.port is None):
        return None
    if left.held is not None or right.held is not None:
        return None
    numbers = [one.port is not None and one.port.root.number for one in (left, right)]
    if sign == "+" and not any(numbers):
        return joined([one.exact if one.exact is not None else one for one in (left, right)])
    if not all(one.exact is None or is_number(one.exact) for one in (left, right)):
        return None
    operands = port = Port(unknown=True, number=True)
    if sign == "/":  # of whole numbers, too, it gives others
        port = Port(unknown=True, number=True)
        port.forms.discard("whole")
    for one in (left, right):
        if one.port is not None:
            operands.join(one.port)
        elif one.exact is not None:
            operands.take(one.exact)
    return Value(lambda: f"{_operand(left)} {sign} {_operand(right)}", port)


def _operand(one: Value) -> str:
    """An operand of a computation."""
    text = one.exact if one.exact is not None else in_text(one.code)
    return f"({text})" if " " in text else text


def _either(first: Value | None, second: Value | None) -> Value | None:
    """The first of two values that exists."""
    if first is None or second is None or first.exact is not None:
        return None
    if first.held is not None or second.held is not None:
        return None
    port = first.port
    if port is not None and second.port is not None:
        port.join(second.port)
    elif (port is None) != (second.port is None) and second.exact is None:
        return None
    exact = second.exact
    if port is not None and exact is not None:
        port.take(exact)

    def other() -> Code:
        return second.code() if port is None or exact is None else port.value(exact)

    return Value(lambda: f"either({in_text(first.code)}, {in_text(other)})", port)


def _whichever(node: tree.Conditional, scope: Scope) -> Value | None:
    """`tasks['a'].status == 'Succeeded' ? ... a ... : ...`: the value of the task that ran."""
    of = {
        one.path[1]
        for one in tree.variables(node.yes)
        if len(one.path) > 1 and one.path[0] in ("steps", "tasks")
    }
    condition = node.condition
    ran = (
        isinstance(condition, tree.Binary)
        and condition.operator == "=="
        and isinstance(condition.right, tree.Literal)
        and condition.right.value == "Succeeded"
        and (tree.path(condition.left) or ())[2:] == ("status",)
        and {*(tree.path(condition.left) or ())[1:2]} == of
    )
    if not ran:
        held = asked(condition, lambda one: _value(one, scope))
        if len(of) != 1 or not isinstance(held, Asked) or not scope.runs_if(next(iter(of)), held):
            return None
    return _either(_value(node.yes, scope), _value(node.no, scope))
