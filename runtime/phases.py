"""The phases of runs and their nodes, and which of them are final.

Source: WorkflowPhase and NodePhase in pkg/apis/workflow/v1alpha1/workflow_types.go of Argo 4.1.
"""

from __future__ import annotations

from typing import Any, Literal

from flowdsl.runtime.parts import part, text

Json = dict[str, Any]
RunPhase = Literal["Pending", "Running", "Succeeded", "Failed", "Error"]

PENDING, RUNNING = "Pending", "Running"
SUCCEEDED, FAILED, ERROR = "Succeeded", "Failed", "Error"
SKIPPED, OMITTED = "Skipped", "Omitted"

FAILURES = (FAILED, ERROR)
ENDED = (SUCCEEDED, *FAILURES)
"""Phases of nodes and runs that have run and ended."""
FULFILLED = frozenset((*ENDED, SKIPPED, OMITTED))
"""Phases after which dependents need not wait any more."""
POD_ENDED = (SUCCEEDED, FAILED)
"""Phases of pods that have ended, as set by the kubelet. Source: PodPhase of Kubernetes."""


def phase(workflow: Json) -> str:
    """The phase of a run; Pending if no controller has seen it yet."""
    return text(part(workflow, "status"), "phase") or PENDING


def over(workflow: Json) -> bool:
    """Whether a run has ended; its controller may still add to its status: see `flowdsl.runtime.cluster.ended`."""
    return phase(workflow) in ENDED
