"""What a step, a call or a pipeline may say besides its arguments: one class for each concern.

Declared once, as `**options: Unpack[...]` of the decorators. The compiler judges them in the modules of the same
names in `flowdsl.compiler.options`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.artifact import Archive
    from flowdsl.cache import Cache
    from flowdsl.companion import InitContainer, Ready, Sidecar
    from flowdsl.distributed import MPI, TensorFlow, Torch
    from flowdsl.gpu import GPU
    from flowdsl.retry import Mutex, Retry, Semaphore
    from flowdsl.volume import Config, Local, Secret, Volume, VolumePath


IN_THE_IMAGE = "image"
"""What `code` says where an image has the modules itself."""


class EnvironmentOptions(TypedDict, total=False):
    """What a container finds: its image, variables and volumes."""

    image: str
    env: Mapping[str, str | int | float | Config]
    secrets: Mapping[str, Secret]
    mounts: Mapping[str, Volume | Local | Path | VolumePath]
    shm: int | str
    checkpoints: Volume | Path
    workdir: str
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"]


class ResourceOptions(TypedDict, total=False):
    """What a pod asks of its node."""

    cpu: float | str
    memory: int | str
    gpu: int | GPU


class PlacementOptions(TypedDict, total=False):
    """Which nodes may run a pod, and how urgent it is."""

    node: Mapping[str, str]
    where: str
    tolerations: Sequence[str | Mapping[str, str]]
    priority: str
    pool: str
    placement: Literal["pack", "spread"]
    queue: str
    spot: bool


class ControlOptions(TypedDict, total=False):
    """How often and how long a step may run, and what it waits for."""

    retries: int | Retry
    timeout: int | str
    queue_timeout: int | str
    locks: Sequence[Mutex | Semaphore]


class CompanionOptions(TypedDict, total=False):
    """The containers that stand beside that of a step."""

    init: Sequence[InitContainer]
    sidecars: Sequence[Sidecar]


class DistributedOptions(TypedDict, total=False):
    """Whether a step runs on several pods at once, and how these find each other."""

    distributed: Torch | TensorFlow | MPI | None


class DaemonOptions(TypedDict, total=False):
    """Whether a step serves the steps after it, and from when on."""

    daemon: bool
    ready: Ready


class StoreOptions(TypedDict, total=False):
    """Where files go: a folder of a volume, or with None the artifact repository of the cluster."""

    store: Volume | Path | None


class FileOptions(TypedDict, total=False):
    """How files leave a step."""

    archive: Archive | Mapping[str, Archive]


class IdentityOptions(TypedDict, total=False):
    """What a pod is to the cluster: its account and its marks."""

    service_account: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


class PatchOptions(TypedDict, total=False):
    """The last resort: fields of Argo, put on top of what is written."""

    argo: Mapping[str, Any]


class CodeOptions(TypedDict, total=False):
    """What Python code a step finds besides its own; of a pipeline, what its steps find."""

    packages: Sequence[str]
    code: Path | Volume | Literal["image"] | None


class CacheOptions(TypedDict, total=False):
    """Whether the results of a step may come from an earlier run; of a pipeline, those of its steps."""

    cache: bool | Cache


class StepOptions(
    EnvironmentOptions,
    ResourceOptions,
    PlacementOptions,
    ControlOptions,
    CompanionOptions,
    StoreOptions,
    FileOptions,
    IdentityOptions,
    PatchOptions,
    CodeOptions,
    CacheOptions,
    DistributedOptions,
    total=False,
):
    """What a step may say about where and how it runs; every word is optional."""


class DeclaredOptions(StepOptions, DaemonOptions, total=False):
    """What the decorator of a step may say: besides, what it is to all its calls."""


class ManifestOptions(TypedDict, total=False):
    """What is done with an object of the cluster, and what is waited for."""

    success: str
    failure: str
    merge: Literal["strategic", "merge", "json"]
    flags: Sequence[str]
    owner: bool


class GateOptions(TypedDict, total=False):
    """How long a gate waits for a person."""

    duration: int | str


class LibraryOptions(TypedDict, total=False):
    """Where a template of the cluster is, and how it calls what it takes and gives."""

    cluster: bool
    names: Mapping[str, str]


class ResourceStepOptions(
    ManifestOptions, PlacementOptions, ControlOptions, IdentityOptions, PatchOptions, total=False
):
    """What a `resource` step may say; every word is optional."""


class GateStepOptions(GateOptions, PatchOptions, total=False):
    """What an `approve` step may say; every word is optional."""


class RequestOptions(ControlOptions, PatchOptions, total=False):
    """What an `http` step may say; every word is optional."""


class LibraryStepOptions(LibraryOptions, PatchOptions, total=False):
    """What a `call_template` step may say; every word is optional."""


class CallOptions(StepOptions, ManifestOptions, GateOptions, total=False):
    """What one call may say besides: its name in the graph, and what it waits for."""

    name: str
    after: Sequence[object]
    may_fail: bool


class ScheduleOptions(TypedDict, total=False):
    """When runs start by themselves, and what becomes of those before."""

    schedule: str | Sequence[str]
    timezone: str
    concurrency: Literal["Allow", "Forbid", "Replace"]
    starting_deadline: int | str
    keep_succeeded: int
    keep_failed: int


class RunOptions(TypedDict, total=False):
    """What holds for all pods of a run, and what is left of it."""

    suspend: bool
    pod_labels: Mapping[str, str]
    pod_annotations: Mapping[str, str]
    image_pull_secrets: str | Sequence[str]
    user: int
    pod_gc: Literal["OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess"]
    archive_logs: bool


class PipelineOptions(
    StoreOptions, CodeOptions, CacheOptions, ScheduleOptions, RunOptions, PatchOptions, total=False
):
    """What a pipeline may say about the run as a whole; every word is optional."""

    name: str
    parallelism: int
    timeout: int | str
    ttl: int | str | Mapping[Literal["success", "failure"], int | str]
    priority: str
    service_account: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    locks: Sequence[Mutex | Semaphore]
    queue: str
    checkpoints: Volume | Path


class SubgraphOptions(TypedDict, total=False):
    """What one call of a pipeline inside another may say."""

    name: str
    after: object
    may_fail: bool
    parallelism: int
    retries: int | Retry
    locks: Sequence[Mutex | Semaphore]
