"""The trainings of Kubeflow's operators: where their pods are written, and what the operators take for granted.

Source: Kubeflow Training Operator 1.8 and MPI Operator 0.6.
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
