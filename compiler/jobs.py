"""Jobs of Kubernetes and trainings of Kubeflow: where they have what, and what their operators take for granted.

Source: Kubernetes, JobSet 0.10, Kubeflow Training Operator 1.8 and MPI Operator 0.6.
"""

from __future__ import annotations

from flowdsl.grammar.named import NamedTuple


class Training(NamedTuple):
    """A kind of training: the field of its replicas, their roles, and the container that each has to have.

    `restarts`: the policy of replicas that have none, if the operator itself ends the training at its limits.
    """

    replicas: str
    roles: tuple[str, ...]
    container: str = ""
    restarts: str = ""


RUN_POLICY = (
    *("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "managedBy", "schedulingPolicy", "suspend"),
    "ttlSecondsAfterFinished",
)
"""The fields of `runPolicy`, which the spec of a training does not have itself."""

TRAININGS = {
    "MPIJob": Training("mpiReplicaSpecs", ("Launcher", "Worker")),
    "PyTorchJob": Training("pytorchReplicaSpecs", ("Master", "Worker"), "pytorch", "OnFailure"),
    "TFJob": Training(
        "tfReplicaSpecs", ("Chief", "Master", "Worker", "PS", "Evaluator"), "tensorflow", "Never"
    ),
}
"""By kind; the roles in the order in which the operator ranks their pods."""

TTL_AT = {
    **dict.fromkeys(("Job", "JobSet"), ("spec", "ttlSecondsAfterFinished")),
    **dict.fromkeys(TRAININGS, ("spec", "runPolicy", "ttlSecondsAfterFinished")),
}
"""By kind, the seconds after which an object that has ended is deleted: that of a RayJob deletes only its cluster."""

_ENDS = ("succeeded", "complete")


def asks_for_end(condition: str) -> bool:
    """Whether a condition on an object waits for its end."""
    return any(word in condition.lower() for word in _ENDS)
