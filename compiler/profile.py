"""The profile of a cluster in the project's settings, which pipelines are compiled for.

A pipeline names what it needs (a pool, a product, a volume), and the profile says what that is on one cluster.
A profile is the table `[clusters.NAME]` of flowdsl.toml, or `[tool.flowdsl.clusters.NAME]` of pyproject.toml.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from flowdsl.compiler.argo_versions import LATEST
from flowdsl.grammar.image import completed
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

Toleration = dict[str, str]

#: What follows a registry, or a folder or image in it, in the name of an image; `:5000/` is a part of a host.
_REST = regex(r"/.+|:[^/]+|@.+|")


class Product(NamedTuple):
    """A GPU model: the label value of its nodes, and the memory of one device in MiB."""

    labels: tuple[str, ...]
    memory: int | None = None


class Pool(NamedTuple):
    """A group of equal nodes; amounts are per node, None if the profile does not say."""

    labels: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
    products: tuple[str, ...] | None = None
    gpus: int | None = None
    cpu: Decimal | None = None
    memory: Decimal | None = None

    @property
    def has_gpus(self) -> bool:
        """Whether the profile says that its nodes have GPUs."""
        return bool(self.products or self.gpus)


class Claim(NamedTuple):
    """The PersistentVolumeClaim behind a `Volume`, and its access mode if the profile gives it."""

    name: str
    mode: str | None = None


class Spot(NamedTuple):
    """The label of spot nodes, and the toleration of their taints."""

    label: tuple[str, str]
    tolerations: tuple[Toleration, ...] = ()


class Sharing(NamedTuple):
    """How a part of a GPU is requested: in pieces of `unit` MiB, or as one of `replicas` of a device.

    `labels` are those of the nodes with shared devices.
    """

    resource: str
    unit: int | None = None
    replicas: int = 1
    labels: Mapping[str, str] = {}


class Profile(NamedTuple):
    """One cluster. The one without a name is no cluster: it has what is true of any."""

    name: str = ""
    argo: str = LATEST
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
    registries: Mapping[
        str, str
    ] = {}  # of registries, or folders in them: where the cluster pulls their images
    elsewhere: tuple[str, ...] = ()  # the products of the other profiles of the project

    def named(self, pattern: str) -> tuple[str, ...]:
        """The products that match a name or pattern, by their names in pipelines; `*` and `?` are those of shells."""
        return tuple(name for name in self.products if fnmatchcase(name, pattern))

    def offered(self, products: tuple[str, ...]) -> tuple[str, ...]:
        """The products of a list without those that only other clusters have; all, if none would be left."""
        here = {text for name, one in self.products.items() for text in (name, *one.labels)}
        left = tuple(
            one
            for one in products
            if not here or one in here or self.named(one) or not _any_fits(self.elsewhere, one)
        )
        return left or products

    def claim(self, volume: str) -> str:
        """The name of the claim behind a volume."""
        return self.volumes[volume].name if volume in self.volumes else volume

    def pulled(self, image: str) -> str:
        """The name by which the cluster pulls an image; the longest of the `registries` that it is in decides."""
        whole = completed(image)
        for origin in sorted(self.registries, key=len, reverse=True):
            if whole.startswith(origin) and _REST.fullmatch(whole, len(origin)):
                return self.registries[origin] + whole[len(origin) :]
        return image

    @property
    def weighed(self) -> bool:
        """Whether the memory of a GPU is derived from its product, as no label of the nodes gives it."""
        known = bool(self.products) and all(one.memory is not None for one in self.products.values())
        return known and "gpu.memory" not in self.labels


def _any_fits(names: tuple[str, ...], pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


NOWHERE = Profile()
"""No particular cluster."""
