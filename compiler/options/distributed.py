"""Whether a step runs on several pods at once, and how these find each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from flowdsl.compiler.findings.distributed import (
    BesideDistributed,
    MeetingVariable,
    ProcessesShare,
    ServersAlone,
)
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.ir import Distributed
from flowdsl.compiler.options import placement, resources
from flowdsl.compiler.options.control import BY_CODE
from flowdsl.compiler.options.reading import Wrong, one_of, said, whole
from flowdsl.compiler.options.resources import wanted
from flowdsl.distributed import MPI, Operator, TensorFlow, TensorFlowOperator, Torch, TorchOperator
from flowdsl.distributed import Distributed as Written
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.ir import Settings
    from flowdsl.compiler.options.reading import Reader
    from flowdsl.compiler.profile import Profile

_FRAMEWORKS: dict[type, Literal["torch", "tensorflow", "mpi"]] = {
    Torch: "torch",
    TensorFlow: "tensorflow",
    MPI: "mpi",
}
_OPERATORS: dict[type, tuple[Operator, ...]] = {
    Torch: get_args(TorchOperator),
    TensorFlow: get_args(TensorFlowOperator),
    MPI: ("mpijob",),
}

#: The variables of each pod, besides those of torchrun.
VARIABLES = frozenset(
    (
        *("MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
        *("PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE", "PET_MASTER_ADDR", "PET_MASTER_PORT"),
        *("TF_CONFIG", "JOB_COMPLETION_INDEX"),
    )
)

_MOST = 1000
"""Maximum number of pods of one step: more than any training has."""


def settled(found: Mapping[str, Any], profile: Profile) -> Distributed:
    """How the options of a step distribute it over pods; by default each process has one GPU."""
    written: Written | None = found.get("distributed")
    if written is None:
        return Distributed()
    gpu = wanted(found)
    processes = written.processes or (gpu.count if gpu is not None else 1)
    framework = _FRAMEWORKS[type(written)]
    made = Distributed(framework, written.workers, processes, written.port, written.operator or "")
    if not written.ps and not made.launched:
        return made
    rest = {name: value for name, value in found.items() if name != "gpu"}
    return made._replace(
        ps=written.ps, aside=(resources.settled(rest, profile), placement.settled(rest, profile))
    )


def doubts(made: Settings, found: Mapping[str, Any]) -> Iterator[tuple[str, Wrong]]:
    """Options that have no effect on pods that belong to a Job, not to Argo."""
    if not made.distributed.workers:
        return
    yield from ((name, Wrong(finding, "name")) for name, finding in beside(made) if name in found)
    gpu = wanted(found)
    if gpu is not None and made.distributed.processes > gpu.count:
        yield "distributed", Wrong(ProcessesShare(made.distributed.processes, gpu.count), "item:processes")
    for name, value in made.environment.env:
        if name in VARIABLES:
            option = "secrets" if isinstance(value, Secret) else "env"
            yield option, Wrong(MeetingVariable(name), f"key:{name}")


def beside(made: Settings) -> Iterator[tuple[str, BesideDistributed]]:
    """The options of a distributed step, or of its pipeline, that its pods cannot use."""
    for name, asks, reason, way in _BESIDE:
        if asks(made):
            yield name, BesideDistributed(name, reason, way)


#: For each option that such pods cannot use: whether it is set to anything, why not, and what to do instead.
_BESIDE: tuple[tuple[str, Callable[[Settings], object], str, str], ...] = (
    (
        "init",
        lambda made: made.companions.init,
        "Argo makes none for the pods of a Job",
        "do that in a step before this one, or at the beginning of this one",
    ),
    (
        "sidecars",
        lambda made: made.companions.sidecars,
        "a Job does not end while they run",
        "start the server as a step of its own, with `daemon=True`",
    ),
    (
        "daemon",
        lambda made: made.daemon.on,
        "the tasks after it wait for its end",
        "leave one of them out",
    ),
    (
        "cache",
        lambda made: made.caching.max_age is not None,
        "its results are not kept for other runs",
        "leave it out, and cache the steps before and after it",
    ),
    (
        "code",
        lambda made: made.code.repository is not None,
        "its pods do not get what Argo brings from a repository",
        'put the code on a volume, code=Volume("claim") / "src", or build it into the image; `code=None` leaves it out',
    ),
    (
        "packages",
        lambda made: made.distributed.launched and made.code.packages,
        "each of the processes would install them",
        "build them into the image",
    ),
    (
        "queue_timeout",
        lambda made: made.control.queue_timeout is not None,
        "it is for pods of Argo, and these are pods of a Job",
        "use `timeout`, which begins when the Job is made",
    ),
    (
        "retries",
        lambda made: made.control.retries is not None and made.control.retries.elsewhere,
        "`elsewhere` is for the node of one pod",
        "leave `elsewhere` out",
    ),
    (
        "retries",
        lambda made: (
            (asked := made.control.retries) is not None and (asked.expression or "").startswith(BY_CODE)
        ),
        "Argo sees no exit codes of pods that it does not make",
        "leave `exit_codes` out: whatever they ended with, all are retried",
    ),
    (
        "spot",
        lambda made: made.placement.spot and made.control.retries is None,
        "nothing tells a node that was taken away from a program that failed",
        "say how often it is tried again: `retries=3`",
    ),
)


def _distributed(name: str, written: object) -> Written | None:
    if written is None:
        return None
    if type(written) not in _FRAMEWORKS:
        raise Wrong(OptionType(name, "Torch(...), TensorFlow(...) or MPI(...)", said(written)))
    kind = cast("Written", written)
    bounds = (("workers", 1, _MOST), ("processes", 1, _MOST), ("ps", 0, _MOST), ("port", 1, 65535))
    for field, least, most in bounds:
        given: object = getattr(kind, field)
        if given is None and field == "processes":
            continue
        whole(f"{field} of {type(kind).__name__}", given, least, most, part=f"item:{field}")
    if cast("object", kind.operator) is not None:
        words = _OPERATORS[type(kind)]
        one_of(f"operator of {type(kind).__name__}", kind.operator, words, part="item:operator")
    if kind.ps and kind.operator != "tfjob":
        raise Wrong(ServersAlone(kind.ps), "item:ps")
    return kind


READERS: dict[str, Reader] = {"distributed": _distributed}
