"""The labels and annotations that Argo sets on its own objects. Source: workflow/common/common.go."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "workflows.argoproj.io/"

RUN = f"{PREFIX}workflow"
"""The label by which a pod says which run it is of."""
COMPLETED = f"{PREFIX}completed"
"""The label of runs and pods that have ended."""
PHASE = f"{PREFIX}phase"
ARCHIVING = f"{PREFIX}workflow-archiving-status"
INSTANCE = f"{PREFIX}controller-instanceid"
TEMPLATE = f"{PREFIX}workflow-template"
CLUSTER_TEMPLATE = f"{PREFIX}cluster-workflow-template"
"""The labels by which a run says which template it refers to."""

NODE_ID = f"{PREFIX}node-id"
"""The annotation by which a pod says which node of its run it is."""
NODE_NAME = f"{PREFIX}node-name"
DISPLAY_NAME = f"{PREFIX}display-name"
POD_NAMES = f"{PREFIX}pod-name-format"
SCHEDULED = f"{PREFIX}scheduled-time"
DEFAULT_REPOSITORY = f"{PREFIX}default-artifact-repository"

ARTIFACTS = f"{PREFIX}artifact-gc"
"""The finalizer of runs whose artifacts are still to be deleted."""
WORKER_OF = "flowdsl/node"
"""The node for which a pod of a Job works: Argo would take one with its own annotation for the pod of the node."""
ATTEMPT = "flowdsl/attempt"
"""At which attempt of that node."""
QUEUE = "kueue.x-k8s.io/queue-name"
"""The label of what waits in a queue. Source: Kueue, "Run Plain Pods"."""
WORKER = "batch.kubernetes.io/job-completion-index"
"""The number of a pod of an Indexed Job."""
TRAINING = "training.kubeflow.org/"
"""What Kubeflow's training operator puts before its labels. Source: pkg/apis/kubeflow.org/v1/common_types.go, 1.8."""
TRAINING_ROLE = f"{TRAINING}replica-type"
TRAINING_INDEX = f"{TRAINING}replica-index"
"""The number of a pod among those of its role."""
JOBSET = "jobset.sigs.k8s.io/"
"""What a JobSet puts before its labels. Source: api/jobset/v1alpha2, 0.8."""


def maker(annotations: Mapping[str, str]) -> str:
    """The name of the node for which a pod of a Job works; empty for other pods."""
    node, attempt = annotations.get(WORKER_OF, ""), annotations.get(ATTEMPT)
    return node if not node or attempt is None else f"{node}({attempt})"


def worker(labels: Mapping[str, str]) -> str:
    """What a pod is called among those that work for one node: by its number, or by its role and number."""
    role, index = labels.get(TRAINING_ROLE, ""), labels.get(TRAINING_INDEX, "")
    if not role:
        role, index = labels.get(f"{JOBSET}replicatedjob-name", ""), labels.get(WORKER, "")
    several = labels.get(f"{JOBSET}replicatedjob-replicas", "1") != "1"
    which = [labels.get(f"{JOBSET}job-index", "")] if several else []
    return "-".join(filter(None, [role, *which, index])) if index else ""
