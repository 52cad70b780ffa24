"""Steps that run on several pods at once: `Torch`, `TensorFlow` and `MPI`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from flowdsl.places.place import Site, here

TorchOperator: TypeAlias = Literal["pytorchjob", "jobset", "trainjob"]
TensorFlowOperator: TypeAlias = Literal["tfjob", "jobset", "trainjob"]
Operator: TypeAlias = Literal[TorchOperator, TensorFlowOperator, "mpijob"]
"""Who makes the pods, where that is not a Job of Kubernetes."""


class Distributed:
    """How the pods of one step connect. Stored as written; the compiler checks it."""

    __slots__ = ("operator", "port", "processes", "ps", "site", "workers")

    def __init__(
        self, workers: int, processes: int | None, port: int, operator: Operator | None, ps: int
    ) -> None:
        self.workers = workers
        self.processes = processes
        self.ps = ps
        self.port = port
        self.operator: Operator | None = operator
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.workers!r})"


class Torch(Distributed):
    """A step on several pods, with the variables by which processes of PyTorch meet: `env://`.

    `workers`: how many pods. `processes`: in each of them, by default one for each of its GPUs. Each process runs
    the function with `RANK`, `LOCAL_RANK`, `WORLD_SIZE`, `LOCAL_WORLD_SIZE`, `NODE_RANK`, `MASTER_ADDR` and
    `MASTER_PORT`; what the one of rank 0 returns is the result of the step. `port`: at which that one listens.
    `operator`: "pytorchjob" makes the pods those of a PyTorchJob, in a cluster that has Kubeflow's training operator,
    "trainjob" those of a TrainJob, in one that has its Trainer, "jobset" those of a JobSet.
    """

    __slots__ = ()

    def __init__(
        self,
        workers: int,
        *,
        processes: int | None = None,
        port: int = 29500,
        operator: TorchOperator | None = None,
    ) -> None:
        super().__init__(workers, processes, port, operator, 0)


class TensorFlow(Distributed):
    """A step on several pods, with the variable by which these meet under TensorFlow: `TF_CONFIG`.

    `workers`: how many pods. Each runs the function once, with all its GPUs; what the first one returns is the
    result of the step. `port`: at which each listens. `operator`: "tfjob" makes the pods those of a TFJob, in a
    cluster that has Kubeflow's training operator, "trainjob" those of a TrainJob, in one that has its Trainer, "jobset"
    those of a JobSet.

    `ps`: this many parameter servers in addition, with "tfjob" only. Then there is one more pod, the chief: what it
    returns is the result, and when it has ended, the others are ended. Parameter servers and chief have no GPU.
    """

    __slots__ = ()

    def __init__(
        self, workers: int, *, ps: int = 0, port: int = 2222, operator: TensorFlowOperator | None = None
    ) -> None:
        super().__init__(workers, 1, port, operator, ps)


class MPI(Distributed):
    """A step on several pods, whose processes `mpirun` of Open MPI starts: an MPIJob of Kubeflow's MPI Operator.

    `workers`: how many pods. `processes`: in each of them, by default one for each of its GPUs. Each process runs the
    function, with `RANK`, `LOCAL_RANK`, `WORLD_SIZE`, `LOCAL_WORLD_SIZE` and `NODE_RANK`; what the one of rank 0
    returns is the result of the step. The image has Open MPI and an SSH server.
    """

    __slots__ = ()

    def __init__(self, workers: int, *, processes: int | None = None) -> None:
        super().__init__(workers, processes, 22, "mpijob", 0)
