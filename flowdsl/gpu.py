"""`GPU`: the GPUs that a step requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.places.place import Site, here

if TYPE_CHECKING:
    from collections.abc import Sequence


class GPU:
    """GPUs for one step.

    `count`: how many whole devices. `product`: the product, or products, as the vendor's feature
    discovery labels them ("A100-SXM4-40GB"). `memory`: the least memory of one device ("40Gi").
    `vendor`: "nvidia", "amd", "intel" ... names the extended resource; `resource` names it in full
    ("google.com/tpu"). `mig`: a MIG profile ("1g.5gb") instead of whole devices. `share`: this much memory ("8Gi")
    of a device that several pods use at once. A product may be a pattern ("A100*") where the cluster has a profile.
    Stored as written; the compiler judges.
    """

    __slots__ = ("count", "memory", "mig", "product", "resource", "share", "site", "vendor")

    def __init__(
        self,
        count: int = 1,
        *,
        product: str | Sequence[str] | None = None,
        memory: str | None = None,
        vendor: str = "nvidia",
        resource: str | None = None,
        mig: str | None = None,
        share: str | None = None,
    ) -> None:
        self.count = count
        self.product = product
        self.memory = memory
        self.vendor = vendor
        self.resource = resource
        self.mig = mig
        self.share = share
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"GPU({self.count!r})"
