"""Reports a missing field at its key, where the key is there without a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods.bodies import ArtifactLocation, NoImage
from flowdsl.compiler.lint.pods.findings import Incomplete
from flowdsl.compiler.lint.workflow.calls import CallTarget, HookWithoutExpression, NoEntrypoint
from flowdsl.compiler.lint.workflow.names import NoName
from flowdsl.compiler.schema.findings import MissingField
from flowdsl.compiler.tree import is_mapping, value_at

if TYPE_CHECKING:
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Object
    from flowdsl.diagnostic import Finding

_FIELDS: dict[type[Finding], str] = {
    CallTarget: "template",
    HookWithoutExpression: "expression",
    NoEntrypoint: "entrypoint",
    NoImage: "image",
    NoName: "name",
}
"""The missing field of a finding, where it is always the same."""


def at_key(document: Object, problem: Problem) -> Problem:
    """A problem of a missing field, moved to its key if that is in the object without a value."""
    finding = problem.finding
    if isinstance(finding, MissingField):
        asked = finding.field
    elif isinstance(finding, (ArtifactLocation, Incomplete)):
        asked = finding.missing.strip("`")
    else:
        asked = _FIELDS.get(type(finding), "")
    if not asked or problem.on_key:
        return problem
    path, node = problem.path, value_at(document, problem.path)
    for field in asked.split("."):
        if not is_mapping(node) or field not in node:
            return problem
        path, node = (*path, field), node[field]
    return problem._replace(path=path, on_key=True) if node in (None, "") else problem
