"""The variables of a workflow as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.tree import inside

if TYPE_CHECKING:
    from flowdsl.compiler.lint.view import View

ALWAYS: frozenset[str] = frozenset(
    (
        "workflow.name",
        "workflow.namespace",
        "workflow.mainEntrypoint",
        "workflow.serviceAccountName",
        "workflow.uid",
        "workflow.status",
        "workflow.duration",
        "workflow.creationTimestamp",
        "workflow.annotations",
        "workflow.annotations.json",
        "workflow.labels",
        "workflow.labels.json",
        "workflow.parameters",
        "workflow.parameters.json",
        "node.name",
        "steps.name",
        "tasks.name",
    )
)
"""What exists in every workflow. Source: Argo Workflows, docs/variable-flow/variables.md."""


def workflow_variables(view: View) -> frozenset[str]:
    """The variables of the workflow that this document declares, and those that always exist."""
    known = set(ALWAYS)
    known.update(f"workflow.parameters.{name}" for name in view.arguments)
    sources = [view.metadata, inside(view.spec, "workflowMetadata")]
    if view.kind == "CronWorkflow":
        sources.append(inside(view.document, "spec", "workflowMetadata"))
    for source in sources:
        for field, word in (("labels", "labels"), ("labelsFrom", "labels"), ("annotations", "annotations")):
            known.update(f"workflow.{word}.{key}" for key in inside(source, field))
    for template in view.templates:
        for kind, outputs in (
            ("parameters", template.output_parameters),
            ("artifacts", template.output_artifacts),
        ):
            for each in outputs.values():
                if name := each.get("globalName"):
                    known.add(f"workflow.outputs.{kind}.{name}")
    if view.spec.get("priority") is not None:
        known.add("workflow.priority")
    if view.spec.get("onExit") or "exit" in inside(view.spec, "hooks"):
        known.add("workflow.failures")
    return frozenset(known)
