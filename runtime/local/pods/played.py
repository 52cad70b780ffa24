"""The kinds of objects whose pods are played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.runtime.local.pods.played_batch import JOB, JOB_SET
from flowdsl.runtime.local.pods.played_training import MPI_JOB, PYTORCH_JOB, TF_JOB

if TYPE_CHECKING:
    from flowdsl.runtime.local.pods.sorts import Sort

SORTS: dict[tuple[str, str], Sort] = {
    ("batch/v1", "Job"): JOB,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): JOB_SET,
    ("kubeflow.org/v1", "PyTorchJob"): PYTORCH_JOB,
    ("kubeflow.org/v1", "TFJob"): TF_JOB,
    ("kubeflow.org/v2beta1", "MPIJob"): MPI_JOB,
}


def sort(found: dict[str, Any]) -> Sort | None:
    """What kind of object one is, where its pods can be played."""
    return SORTS.get((str(found.get("apiVersion")), str(found.get("kind"))))
