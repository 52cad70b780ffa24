"""What a step, a call or a pipeline may say besides its arguments: one class for each concern.

Declared once, as `**options: Unpack[...]` of the decorators. The compiler judges them in the modules of the same
names in `flowdsl.compiler.options`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.gpu import GPU
    from flowdsl.volume import Secret, Volume


class EnvironmentOptions(TypedDict, total=False):
    """What a container finds: its image, variables and volumes."""

    image: str
    env: Mapping[str, str | int | float]
    secrets: Mapping[str, Secret]
    mounts: Mapping[str, Volume | Path]
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


class ControlOptions(TypedDict, total=False):
    """How often and how long a step may run."""

    retries: int
    timeout: int | str


class IdentityOptions(TypedDict, total=False):
    """What a pod is to the cluster: its account and its marks."""

    service_account: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


class PatchOptions(TypedDict, total=False):
    """The last resort: fields of Argo, put on top of what is written."""

    argo: Mapping[str, object]


class StepOptions(
    EnvironmentOptions,
    ResourceOptions,
    PlacementOptions,
    ControlOptions,
    IdentityOptions,
    PatchOptions,
    total=False,
):
    """What a step may say about where and how it runs; every word is optional."""


class CallOptions(StepOptions, total=False):
    """What one call may say besides: its name in the graph, and what it waits for."""

    name: str
    after: Sequence[object]


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


class PipelineOptions(ScheduleOptions, RunOptions, PatchOptions, total=False):
    """What a pipeline may say about the run as a whole; every word is optional."""

    name: str
    parallelism: int
    timeout: int | str
    ttl: int | str | Mapping[Literal["success", "failure"], int | str]
    priority: str
    service_account: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


class SubgraphOptions(TypedDict, total=False):
    """What one call of a pipeline inside another may say."""

    name: str
    after: object
