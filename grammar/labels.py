"""The labels and annotations that Argo sets on its own objects. Source: workflow/common/common.go."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "workflows.argoproj.io/"

RUN = f"{PREFIX}workflow"
"""The label of pods with the name of their run."""
COMPLETED = f"{PREFIX}completed"
"""The label of runs and pods that have ended."""
PHASE = f"{PREFIX}phase"
ARCHIVING = f"{PREFIX}workflow-archiving-status"
INSTANCE = f"{PREFIX}controller-instanceid"
TEMPLATE = f"{PREFIX}workflow-template"
CLUSTER_TEMPLATE = f"{PREFIX}cluster-workflow-template"
"""The labels of runs with the name of the template that they refer to."""

NODE_ID = f"{PREFIX}node-id"
"""The annotation of pods with the ID of their node."""
NODE_NAME = f"{PREFIX}node-name"
DISPLAY_NAME = f"{PREFIX}display-name"
POD_NAMES = f"{PREFIX}pod-name-format"
SCHEDULED = f"{PREFIX}scheduled-time"
DEFAULT_REPOSITORY = f"{PREFIX}default-artifact-repository"

ARTIFACTS = f"{PREFIX}artifact-gc"
"""The finalizer of runs whose artifacts are still to be deleted."""
WORKER_OF = "flowdsl/node"
"""The node that a pod of a Job belongs to: with Argo's own annotation, Argo would take it for the pod of the node."""
ATTEMPT = "flowdsl/attempt"
"""The attempt of that node."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which kubectl keeps what was applied."""
QUEUE = "kueue.x-k8s.io/queue-name"
"""The label of queued workloads. Source: Kueue, "Run Plain Pods"."""
WORKER = "batch.kubernetes.io/job-completion-index"
"""The index of a pod of an Indexed Job."""
TRAINING = "training.kubeflow.org/"
"""The prefix of the training operator's labels. Source: Kubeflow, pkg/apis/kubeflow.org/v1/common_types.go, 1.8."""
TRAINING_ROLE = f"{TRAINING}replica-type"
TRAINING_INDEX = f"{TRAINING}replica-index"
"""The index of a pod among those of its role."""
JOBSET = "jobset.sigs.k8s.io/"
"""The prefix of a JobSet's labels. Source: api/jobset/v1alpha2, 0.8."""


def maker(annotations: Mapping[str, str]) -> str:
    """The name of the node that a pod of a Job belongs to; empty for other pods."""
    node, attempt = annotations.get(WORKER_OF, ""), annotations.get(ATTEMPT)
    return node if not node or attempt is None else f"{node}({attempt})"


def worker(labels: Mapping[str, str]) -> str:
    """The name of a pod among those of one node: its index, or its role and index."""
    role, index = labels.get(TRAINING_ROLE, ""), labels.get(TRAINING_INDEX, "")
    if not role:
        role, index = labels.get(f"{JOBSET}replicatedjob-name", ""), labels.get(WORKER, "")
    several = labels.get(f"{JOBSET}replicatedjob-replicas", "1") != "1"
    which = [labels.get(f"{JOBSET}job-index", "")] if several else []
    return "-".join(filter(None, [role, *which, index])) if index else ""
