"""The expressions that the compiler writes, evaluated as expr-lang does for Argo; what it does not write is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flowdsl.runtime.expressions import evaluate as expressions
from flowdsl.runtime.expressions.values import ExpressionError
from tests.cluster.golang import fields
from tests.cluster.syntax import ADDED, ExprError, parse

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
    parse(text)
    try:
        return expressions.evaluate(text, scope)
    except ExpressionError as error:
        raise ExprError(str(error)) from None
