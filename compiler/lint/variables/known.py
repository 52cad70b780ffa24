"""Expressions that do not see the variables of their template, or not the functions of Argo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.globals import CRON
from flowdsl.compiler.lint.variables.findings import UnknownVariable
from flowdsl.compiler.lint.variables.scope import RETRY
from flowdsl.compiler.lint.variables.typing import Extra
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import ROOTS

if TYPE_CHECKING:
    from flowdsl.compiler.lint.variables.typing import Use
    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding
    from flowdsl.grammar.template import Reference


class Known(NamedTuple):
    """The only variables of an expression that is alone in its field, and whether it has Argo's functions."""

    variables: frozenset[str]
    functions: bool

    def extra(self, use: Use) -> Extra:
        """The same for the check of kinds."""
        names = frozenset(each.partition(".")[0] for each in self.variables)
        return Extra(use, names, alone=True, argo=self.functions)

    def fault(self, reference: Reference, around: frozenset[str]) -> Finding | None:
        """What is wrong with a variable of the expression; `around` are the variables that tags may have there."""
        root, name = reference.path[0], reference.dotted
        if any(each.partition(".")[0] == root for each in self.variables):
            known = any(
                f"{name}.".startswith(f"{each}.") or each.startswith(f"{name}.") for each in self.variables
            )
            return None if known or reference.guarded else UnknownVariable(name, self.variables)
        if root not in ROOTS:
            return None  # which is not a variable anywhere
        way = f"known here: {', '.join(f'`{each}`' for each in sorted(self.variables))}"
        if name in around:
            way = f"write `'{{{{{name}}}}}'`: tags are filled in before the expression is read"
        return UnknownVariable(name, (), way)


_RETRY = Known(frozenset(RETRY), functions=True)
_DATA = Known(frozenset(("data",)), functions=False)
_REQUEST = ("request.method", "request.url", "request.body", "request.bodyBytes", "request.headers")
_HTTP = Known(
    frozenset((*_REQUEST, "response.statusCode", "response.body", "response.headers")), functions=False
)
CRON_STOP = Known(frozenset(CRON), functions=False)


def known_at(path: Path) -> Known | None:
    """The variables of an expression in a field that has no access to those of its template.

    Source: Argo Workflows, buildRetryStrategyLocalScope, executeHTTPTemplate and processExpression.
    """
    if path[-2:] == ("retryStrategy", "expression"):
        return _RETRY
    if path[-2:] == ("http", "successCondition"):
        return _HTTP
    return _DATA if "transformation" in path and path[-1] == "expression" else None
