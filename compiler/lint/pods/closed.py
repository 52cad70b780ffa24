"""Objects of `resource` templates against the closed schema: fields that are unknown, and values that are refused.

Their manifests are read with types, and tags are words. Source: Kubernetes 1.35; kubectl asks for strict validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from flowdsl.compiler.lint.pods.untyped import WORD, Lacking
from flowdsl.compiler.schema.findings import (
    MissingField,
    NotOneOf,
    OutOfRange,
    PatternMismatch,
    TooFewEntries,
    UnknownField,
    WrongType,
    dotted,
)
from flowdsl.compiler.schema.table import expression_at, fields, is_type, rules
from flowdsl.compiler.schema.validate import findings_of
from flowdsl.compiler.tree import is_number
from flowdsl.diagnostic import instead, near
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.tree import Object, Path
    from flowdsl.diagnostic import Finding


Fields = Literal["closed", "alike", "open"]
"""Which unknown fields are refused: all, those that resemble a known one, as others may be new, or none."""


class Judged(NamedTuple):
    """The flaws of an object of a type. `readable`: its values have the right types; `known`: so are its fields."""

    flaws: list[Flaw]
    readable: bool
    known: bool


def schema_flaws(
    name: str, data: Object, what: str, *, pod: Path = (), unknown: Fields = "closed", defined: bool = False
) -> Judged:
    """What the schema refuses in an object of a type.

    `pod`: where the spec of its pods is; `defined`: whether it has a definition (CRD), which requires more fields, and
    amounts that are texts or whole numbers.
    """
    flaws: list[Flaw] = []
    readable = known = True
    for path, finding in findings_of(name, data):
        if isinstance(finding, UnknownField):
            known = False
            if unknown == "closed" or (unknown == "alike" and _resembles(finding)):
                flaws += [] if WORD in str(path) else [_unknown(what, finding, pod)]
        elif isinstance(finding, MissingField):
            if not defined and (expression_at(name, path), finding.field) in _OPTIONAL:
                continue
            flaw = f"{what} has no `{finding.path}`", finding.advice
            flaws.append(flaw if _replaced(name, path) else Lacking(*flaw))
        elif isinstance(finding, _REFUSED) and (defined or not is_amount(finding)):
            tagged = WORD in f"{path}{getattr(finding, 'value', '')}"
            readable &= not isinstance(finding, WrongType) or (tagged and finding.expression in _SCALARS)
            if not tagged:
                way = finding.advice
                if isinstance(finding, NotOneOf):
                    way = instead(finding.value, [*filter(None, finding.choices)])
                flaws.append((f"{what} is refused: {finding.message}", way))
    return Judged(flaws, readable, known)


def _resembles(finding: UnknownField) -> bool:
    """Whether an unknown field is probably a misspelt one."""
    return near(str(finding.steps[-1]), fields(finding.owner), 0.8) is not None


_REFUSED = (NotOneOf, OutOfRange, PatternMismatch, TooFewEntries, WrongType)
_SCALARS = ("boolean", "int32", "integer", "number")
"""The types of values for which rules take the word of a tag."""


_OPTIONAL = (
    ("ISCSIVolumeSource", "lun"),
    ("PreferredSchedulingTerm", "preference"),
    ("ProbeHTTPHeader", "value"),
    ("Sysctl", "value"),
)
"""Fields, by their types, that definitions require, and Kubernetes does not in objects of its own kinds."""


def _replaced(name: str, path: Path) -> bool:
    """Whether a path leads through a list that `apply` replaces as a whole: its entries have no keys."""
    expression = name
    rule: Mapping[str, Any] = {}
    for step in path:
        if isinstance(step, int) and "keys" not in rule:
            return True
        if is_type(expression):
            expression, rule = fields(expression)[str(step)], rules(expression).get(str(step), {})
        else:
            expression = expression.partition(":")[2]
    return False


def is_amount(finding: Finding) -> bool:
    """Whether it is about an amount written as a number, which only the definition of a Workflow refuses."""
    return isinstance(finding, WrongType) and finding.expression == "quantity" and is_number(finding.value)


def _unknown(what: str, finding: UnknownField, pod: Path) -> Flaw:
    """The flaw of an unknown field."""
    field = finding.steps[-1]
    way = f"move it to `{dotted((*pod, field))}`" if pod and field in fields("PodSpec") else finding.advice
    return f"{what} has `{dotted(finding.steps)}`, which is not a field there, and is refused", way
