"""What a pipeline can be written as: the words of `--as`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Unscheduled = Literal["workflow", "template", "cluster-template"]
Kind = Literal[Unscheduled, "cron"]
KINDS: Mapping[Kind, str] = {
    "workflow": "Workflow",
    "template": "WorkflowTemplate",
    "cluster-template": "ClusterWorkflowTemplate",
    "cron": "CronWorkflow",
}
