"""The options of steps, calls and pipelines: one class for each concern.

They are declared once, as `**options: Unpack[...]` of the decorators. The compiler validates them in the modules of the
same names in `flowdsl.compiler.options`. None means unset: at a call it resets the option of the step.
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
    from flowdsl.duration import Duration
    from flowdsl.gpu import GPU
    from flowdsl.retry import Mutex, Retry, Semaphore
    from flowdsl.volume import Config, Local, Secret, Volume, VolumePath

IN_THE_IMAGE = "image"
"""What `code` says where an image has the modules itself."""

Near = Literal["pack", "spread"]
Merge = Literal["strategic", "merge", "json"]
Concurrency = Literal["Allow", "Forbid", "Replace"]
"""What may happen when a run is due while the previous one still runs. Source: Argo, ConcurrencyPolicy."""
PodGC = Literal["OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess"]
"""When pods are deleted. Source: Argo, PodGCStrategy."""


class EnvironmentOptions(TypedDict, total=False):
    """What a container finds: its image, variables and volumes."""

    image: str
    env: Mapping[str, str | int | float | Config] | None
    secrets: Mapping[str, Secret] | None
    mounts: Mapping[str, Volume | Local | Path | VolumePath] | None
    shm: int | str | None
    checkpoints: Volume | Path | None
    workdir: str | None
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None


class ResourceOptions(TypedDict, total=False):
    """What a pod asks of its node."""

    cpu: float | str | None
    memory: int | str | None
    gpu: int | GPU | None


class PlacementOptions(TypedDict, total=False):
    """Which nodes may run a pod, and how urgent it is."""

    node: Mapping[str, str] | None
    where: str | None
    tolerations: Sequence[str | Mapping[str, str]] | None
    priority: str | None
    pool: str | None
    placement: Near | None
    queue: str | None
    spot: bool | None


class ControlOptions(TypedDict, total=False):
    """How often and how long a step may run, and what it waits for."""

    retries: int | Retry | None
    timeout: Duration | None
    queue_timeout: Duration | None
    locks: Sequence[Mutex | Semaphore] | None


class CompanionOptions(TypedDict, total=False):
    """The containers that stand beside that of a step."""

    init: Sequence[InitContainer] | None
    sidecars: Sequence[Sidecar] | None


class DistributedOptions(TypedDict, total=False):
    """Whether a step runs on several pods at once, and how these find each other."""

    distributed: Torch | TensorFlow | MPI | None


class DaemonOptions(TypedDict, total=False):
    """Whether a step serves the steps after it, and from when on."""

    daemon: bool | None
    ready: Ready | None


class StoreOptions(TypedDict, total=False):
    """Where files go: a folder of a volume, or with None the artifact repository of the cluster."""

    store: Volume | Path | None


class FileOptions(TypedDict, total=False):
    """How files leave a step."""

    archive: Archive | Mapping[str, Archive] | None


class IdentityOptions(TypedDict, total=False):
    """What a pod is to the cluster: its account and its marks."""

    service_account: str | None
    labels: Mapping[str, str] | None
    annotations: Mapping[str, str] | None


class PatchOptions(TypedDict, total=False):
    """The last resort: fields of Argo, put on top of what is written."""

    argo: Mapping[str, Any] | None


class CodeOptions(TypedDict, total=False):
    """What Python code a step finds besides its own; of a pipeline, what its steps find."""

    packages: Sequence[str] | None
    code: Path | Volume | Literal["image"] | None


class CacheOptions(TypedDict, total=False):
    """Whether the results of a step may come from an earlier run; of a pipeline, those of its steps."""

    cache: bool | Cache | None


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

    success: str | None
    failure: str | None
    merge: Merge | None
    flags: Sequence[str] | None
    owner: bool | None


class GateOptions(TypedDict, total=False):
    """How long a gate waits for a person."""

    duration: Duration | None


class LibraryOptions(TypedDict, total=False):
    """Where a template of the cluster is, and how it calls what it takes and gives."""

    cluster: bool | None
    names: Mapping[str, str] | None


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

    name: str | None
    after: Sequence[object] | None
    may_fail: bool | None


class ScheduleOptions(TypedDict, total=False):
    """When runs start by themselves, and what becomes of those before."""

    schedule: str | Sequence[str] | None
    timezone: str | None
    concurrency: Concurrency | None
    starting_deadline: Duration | None
    keep_succeeded: int | None
    keep_failed: int | None


class RunOptions(TypedDict, total=False):
    """What holds for all pods of a run, and what is left of it."""

    suspend: bool | None
    pod_labels: Mapping[str, str] | None
    pod_annotations: Mapping[str, str] | None
    image_pull_secrets: str | Sequence[str] | None
    user: int | None
    pod_gc: PodGC | None
    archive_logs: bool | None


class PipelineOptions(
    StoreOptions, CodeOptions, CacheOptions, ScheduleOptions, RunOptions, PatchOptions, total=False
):
    """What a pipeline may say about the run as a whole; every word is optional."""

    name: str | None
    parallelism: int | None
    timeout: Duration | None
    ttl: Duration | Mapping[Literal["success", "failure"], Duration] | None
    priority: str | None
    service_account: str | None
    labels: Mapping[str, str] | None
    annotations: Mapping[str, str] | None
    locks: Sequence[Mutex | Semaphore] | None
    queue: str | None
    checkpoints: Volume | Path | None


class SubgraphOptions(TypedDict, total=False):
    """What one call of a pipeline inside another may say."""

    name: str | None
    after: object | None
    may_fail: bool | None
    parallelism: int | None
    retries: int | Retry | None
    locks: Sequence[Mutex | Semaphore] | None
