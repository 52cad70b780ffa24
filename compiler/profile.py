"""The profile of a cluster in the project's settings, which pipelines are compiled for.

A pipeline names what it needs (a pool, a product, a volume), and the profile says what that is on one cluster.
A profile is the table `[clusters.NAME]` of flowdsl.toml, or `[tool.flowdsl.clusters.NAME]` of pyproject.toml.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

Toleration = dict[str, str]


class Product(NamedTuple):
    """A model of GPU: what the nodes are labelled with, and the memory of one device in MiB."""

    labels: tuple[str, ...]
    memory: int | None = None


class Pool(NamedTuple):
    """Nodes that are alike; amounts are those of one node, None where the profile does not say."""

    labels: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
    products: tuple[str, ...] | None = None
    gpus: int | None = None
    cpu: Decimal | None = None
    memory: Decimal | None = None


class Claim(NamedTuple):
    """The PersistentVolumeClaim behind a `Volume`, and its access mode if the profile says it."""

    name: str
    mode: str | None = None


class Spot(NamedTuple):
    """The label that spot nodes have, and what their taints take."""

    label: tuple[str, str]
    tolerations: tuple[Toleration, ...] = ()


class Sharing(NamedTuple):
    """How a part of a GPU is asked for: by pieces of `unit` MiB, or as one of `replicas` of a device.

    `labels` are those of the nodes whose devices are shared.
    """

    resource: str
    unit: int | None = None
    replicas: int = 1
    labels: Mapping[str, str] = {}


class Profile(NamedTuple):
    """One cluster. The one without a name is no cluster: what is known of any."""

    name: str = ""
    argo: str = "4.1"
    context: str | None = None
    namespace: str | None = None
    labels: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()  # of every step with a GPU
    products: Mapping[str, Product] = {}
    pools: Mapping[str, Pool] = {}
    volumes: Mapping[str, Claim] = {}
    queues: tuple[str, ...] = ()
    spot: Spot | Literal[False] | None = None  # False: there are no spot nodes
    sharing: Mapping[str, Sharing] = {}  # by vendor
    checkpoints: tuple[str, str] | None = None  # volume and folder

    def named(self, pattern: str) -> tuple[str, ...]:
        """The products of a name or pattern, by the names that pipelines use; `*` and `?` are those of shells."""
        return tuple(name for name in self.products if fnmatchcase(name, pattern))

    def claim(self, volume: str) -> str:
        """The name of the claim behind a volume."""
        return self.volumes[volume].name if volume in self.volumes else volume

    @property
    def weighed(self) -> bool:
        """Whether the memory of a GPU is told by its product, as no label of the nodes says it."""
        known = bool(self.products) and all(one.memory is not None for one in self.products.values())
        return known and "gpu.memory" not in self.labels


NOWHERE = Profile()
"""No cluster in particular."""
