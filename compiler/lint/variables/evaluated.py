"""The results of parts of expressions that are known before the run, and why one fails."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.evaluate import absent, text_of, value_of
from flowdsl.compiler.evaluation.values import INTEGER, ExpressionError, NotHere, wrapped
from flowdsl.compiler.lint.variables.kinds import GO_NUMBER
from flowdsl.compiler.lint.variables.typing_findings import (
    FailsByDefault,
    Uncomputable,
    WrappedNumber,
    WrongArgument,
    WrongResult,
)
from flowdsl.compiler.lint.workflow.expression_values import needs, scope
from flowdsl.compiler.schema.findings import short
from flowdsl.diagnostic import suggest
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.variables.computed import Part
    from flowdsl.compiler.problem import Part as Span
    from flowdsl.diagnostic import Finding

_LARGE = regex(r"\d{9}")  # with shorter numbers, only very long products do not fit
_LONGEST = 1024  # bits of a result that is shown; the parts of a longer one are judged for themselves


@lru_cache(maxsize=4096)
def evaluated(
    text: str, part: Part, value: str, tag: bool, open: bool
) -> tuple[tuple[Finding, Span | None], ...]:
    """The findings about a part with a value of its variable; with no location if the value itself is wrong.

    `open` says that a run can be given another value.
    """
    return tuple(_Evaluated(text, part, value, open).found(tag))


class _Evaluated:
    def __init__(self, text: str, part: Part, value: str, open: bool) -> None:
        self.text = text
        self.part = part
        self.value = value
        self.open = open
        self.scope = scope(part.variable, value)

    def found(self, tag: bool) -> Iterator[tuple[Finding, Span | None]]:
        """The mistake in the result, or the reason for a failure; that of a whole `tag` must convert to text."""
        node = self.part.node
        try:
            result = value_of(node, self.scope)
            if self.shown(node) == self.text.strip():
                if result is None:
                    yield self.nil(node), (node.start, node.end)
                elif tag:
                    text_of(result)
            if _LARGE.search(f"{self.value} {self.shown(node)}"):
                yield from self.wrapping(node)
        except NotHere:
            return
        except ExpressionError as error:
            for each, reason in self.failing(node, str(error)):
                yield self.fault(each, reason)

    def failing(self, node: t.Node, reason: str) -> Iterator[tuple[t.Node, str]]:
        """The innermost failing parts of a failing node, with the reasons."""
        inside = False
        for inner in t.always(node):
            try:
                value_of(inner, self.scope)
            except NotHere:
                continue
            except ExpressionError as error:
                inside = True
                yield from self.failing(inner, str(error))
        if not inside:
            yield node, reason

    def wrapping(self, node: t.Node) -> Iterator[tuple[Finding, Span | None]]:
        """The findings about sums and products that do not fit into 64 bits; parts of them need not fit."""
        operands: list[t.Node] = []
        exact = self.exact(node, operands) if isinstance(node, t.Binary) else None
        if exact is not None and wrapped(exact) != exact:
            given = self.given(node), short(self.value)
            yield WrappedNumber(*given, str(exact), str(wrapped(exact))), (node.start, node.end)
        for each in t.always(node) if exact is None else operands:
            yield from self.wrapping(each)

    def exact(self, node: t.Node, operands: list[t.Node]) -> int | None:
        """The exact result of a sum or product, whose operands are added to a list; None for what is no number."""
        match node:
            case t.Binary("+" | "-" | "*" as sign, left, right):
                one, other = self.exact(left, operands), self.exact(right, operands)
                if one is None or other is None:
                    return None
                found = one + other if sign == "+" else one - other if sign == "-" else one * other
                return found if found.bit_length() < _LONGEST else None
            case _:
                operands.append(node)
                value = value_of(node, self.scope)
                return value if type(value) is int else None

    def nil(self, node: t.Node) -> Finding:
        """The finding about an expression whose result is nil."""
        missing, way = self.lacking(node)
        way = way or "give a value in every case, as by `?? ''`"
        if self.open and needs(node, {}):
            return self.fails(node, missing or "it is nil", way)
        return WrongResult(short(self.shown(node)), f"nil{self.given(node)}", "a value", way)

    def fault(self, node: t.Node, reason: str) -> tuple[Finding, Span | None]:
        """The finding about a failing part, and its location, unless the value of the variable itself is wrong."""
        match node:
            case t.Call(function, (argument,)) if function in _CONVERSIONS:
                given = value_of(argument, self.scope)
                if isinstance(given, str):
                    wanted, way = _CONVERSIONS[function]
                    if function in ("asInt", "int") and INTEGER.fullmatch(given):
                        wanted, way = "a whole number of at most 64 bits", "give a smaller one"
                    elif function in ("asInt", "int") and GO_NUMBER.fullmatch(given):
                        way = f"write `{self.shown(node).replace(function, 'asFloat', 1)}`, or {way}"
                    is_value = t.path(argument) is not None
                    wrong = WrongArgument(function, wanted, f"`{short(given)}`", way)
                    return wrong, None if is_value else (argument.start, argument.end)
            case _:
                pass
        missing, way = self.lacking(node)
        way = way or "ask only for what is there, or give other values"
        return self.fails(node, missing or reason, way), (node.start, node.end)

    def fails(self, node: t.Node, reason: str, way: str) -> Finding:
        """The finding about a failing part: it fails in every run, or in those that keep the default value."""
        found = short(self.shown(node))
        if self.open and (variable := needs(node, {})):
            return FailsByDefault(found, short(self.value), variable.rpartition(".")[2], reason, way)
        return Uncomputable(found, self.given(node), short(self.value), reason, way)

    def lacking(self, node: t.Node) -> tuple[str, str]:
        """The missing key of an object, and those it has; empty where this is not the reason."""
        key = absent(self.shown(node), self.scope)
        if key is None:
            return "", ""
        return f"there is no `{key.key}`", suggest(key.key, key.known) or "the object is empty"

    def given(self, node: t.Node) -> str:
        """The words for the value of the variable, if a part depends on it."""
        return f" with `{short(self.value)}`" if needs(node, {}) else ""

    def shown(self, node: t.Node) -> str:
        """The text of a part."""
        return self.text[node.start : node.end]


_NUMBER = "a text that is a number", "give it a number, with no unit or space"
_WHOLE = "a text that is a whole number", "give it a whole number"
_CONVERSIONS = {
    "asInt": _WHOLE,
    "int": _WHOLE,
    "asFloat": _NUMBER,
    "float": _NUMBER,
    "fromJSON": ("a text that is JSON", "write JSON, in which texts and keys are in double quotes"),
    "duration": (
        "a text that is a duration",
        "write numbers with the units h, m, s, ms, such as `1h30m`",
    ),
}
"""What conversion functions need, and the fix for a text that does not fit."""
