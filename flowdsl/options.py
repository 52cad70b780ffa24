"""What a step, a call or a pipeline may say besides its arguments: one class for each concern.

Declared once, as `**options: Unpack[...]` of the decorators. The compiler judges them in the modules of the same
names in `flowdsl.compiler.options`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.cache import Cache
    from flowdsl.gpu import GPU
    from flowdsl.volume import Secret, Volume


class EnvironmentOptions(TypedDict, total=False):
    """What a container finds: its image, variables and volumes."""

    image: str
    env: Mapping[str, str | int | float]
    secrets: Mapping[str, Secret]
    mounts: Mapping[str, Volume | Path]


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


class CodeOptions(TypedDict, total=False):
    """What Python code a step finds besides its own; of a pipeline, what its steps find."""

    packages: Sequence[str]
    code: Path | Volume | None


class CacheOptions(TypedDict, total=False):
    """Whether the results of a step may come from an earlier run; of a pipeline, those of its steps."""

    cache: bool | Cache


class StepOptions(
    EnvironmentOptions,
    ResourceOptions,
    PlacementOptions,
    ControlOptions,
    CodeOptions,
    CacheOptions,
    total=False,
):
    """What a step may say about where and how it runs; every word is optional."""


class CallOptions(StepOptions, total=False):
    """What one call may say besides: its name in the graph, and what it waits for."""

    name: str
    after: Sequence[object]


class PipelineOptions(CodeOptions, CacheOptions, total=False):
    """What a pipeline may say about the run as a whole; every word is optional."""

    name: str
    parallelism: int
    timeout: int | str
    ttl: int | str
    priority: str
    service_account: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


class SubgraphOptions(TypedDict, total=False):
    """What one call of a pipeline inside another may say."""

    name: str
    after: object
