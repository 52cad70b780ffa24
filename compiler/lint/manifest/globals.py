"""Workflow-level variables, and sample values of variables whose values all have one form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.template import callees
from flowdsl.compiler.tree import inside
from flowdsl.grammar.labels import PREFIX, SCHEDULED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View

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
        "node.name",
        "steps.name",
        "tasks.name",
    )
)
"""The variables that exist in every workflow. Source: Argo Workflows, docs/variable-flow/variables.md."""


CRON: frozenset[str] = frozenset(
    f"cronworkflow.{name}"
    for name in (
        "name",
        "namespace",
        "labels",
        "labels.json",
        "annotations",
        "annotations.json",
        "failed",
        "succeeded",
        "lastScheduledTime",
    )
)
"""The variables of `when` and `stopStrategy` in a CronWorkflow. Source: Argo Workflows, cron, expressionEnv."""


def sample(parts: tuple[str, ...]) -> str | None:
    """A sample value of a variable whose values have the same form in every run; None for any other variable."""
    match parts:
        case ("workflow", "creationTimestamp") | ("workflow", "creationTimestamp", "RFC3339"):
            return _TIME
        case ("tasks" | "steps", _, "startedAt" | "finishedAt"):
            return _TIME
        case ("tasks" | "steps", _, "exitCode"):
            return "0"
        case ("tasks" | "steps", _, "id"):
            return "name-1234567890"
        case ("workflow", "uid"):
            return "0f8fad5b-d9cb-469f-a165-70867728950e"
        case ("inputs" | "workflow", "parameters"):
            return '[{"name":"a","value":"b"}]'
        case ("tasks" | "steps", _, "status") | ("workflow", "status" | "mainStatus"):
            return "Succeeded"
        case _:
            return None


_TIME = "2026-01-02T03:04:05Z"


_OF_CRON = {
    "labels": {f"{PREFIX}cron-workflow": ""},
    "annotations": {SCHEDULED: ""},
}
"""The metadata that a CronWorkflow adds to its runs. Source: Argo Workflows, ConvertCronWorkflowToWorkflow."""


def workflow_variables(view: View) -> frozenset[str]:
    """The variables of the workflow that this document declares, and those that always exist."""
    known = set(ALWAYS)
    known.update(f"workflow.parameters.{name}" for name in view.arguments)
    if view.arguments or view.external or view.kind in ("WorkflowTemplate", "ClusterWorkflowTemplate"):
        known.update(("workflow.parameters", "workflow.parameters.json"))
    sources = [inside(view.spec, "workflowMetadata")]
    if view.kind == "CronWorkflow":
        sources += [inside(view.document, "spec", "workflowMetadata"), _OF_CRON]
    else:
        sources.append(view.metadata)
    for source in sources:
        for field, word in (("labels", "labels"), ("labelsFrom", "labels"), ("annotations", "annotations")):
            known.update(f"workflow.{word}.{key}" for key in inside(source, field))
    begun = callees((*view.outlines, *view.hooks))
    reached = inner_first(begun, lambda each: callees(each.outlines))  # also templates of other objects
    called = set(map(id, reached))
    runs = view.runs
    for template in {id(each): each for each in (*view.all, *reached)}.values():
        known.update(
            name for name in global_outputs(template) if not runs or id(template) in called or "{{" in name
        )
    if view.spec.get("priority") is not None:
        known.add("workflow.priority")
    if view.spec.get("onExit") or inside(view.spec, "hooks"):
        known.add("workflow.failures")
    return frozenset(known)


def global_outputs(template: Template) -> Iterator[str]:
    """The global outputs that exist after a task, step or hook has called a template.

    Argo's validator does not know those of the template that the workflow itself starts with.
    """
    if template.is_leaf and '"globalName":' not in template.text:
        return
    for kind, outputs in (
        ("parameters", template.output_parameters),
        ("artifacts", template.output_artifacts),
    ):
        for each in outputs.values():
            if name := each.get("globalName"):
                yield f"workflow.outputs.{kind}.{name}"
