"""The workload kinds whose pods are emulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.runtime.local.pods.workloads_batch import JOB, JOB_SET
from flowdsl.runtime.local.pods.workloads_training import MPI_JOB, PYTORCH_JOB, TF_JOB

if TYPE_CHECKING:
    from flowdsl.runtime.local.pods.workload_kind import WorkloadKind

WORKLOAD_KINDS: dict[tuple[str, str], WorkloadKind] = {
    ("batch/v1", "Job"): JOB,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): JOB_SET,
    ("kubeflow.org/v1", "PyTorchJob"): PYTORCH_JOB,
    ("kubeflow.org/v1", "TFJob"): TF_JOB,
    ("kubeflow.org/v2beta1", "MPIJob"): MPI_JOB,
}


def kind_of(found: dict[str, Any]) -> WorkloadKind | None:
    """The workload kind of an object, if its pods can be emulated."""
    return WORKLOAD_KINDS.get((str(found.get("apiVersion")), str(found.get("kind"))))
