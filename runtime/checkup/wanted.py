"""Checks that a cluster has what manifests need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.runtime.checkup.visit import Check
from flowdsl.runtime.documents import base_of
from flowdsl.runtime.needs import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.runtime.checkup.visit import Visit


def wanted(visit: Visit) -> Iterator[Check]:
    """What each of the manifests needs and the cluster lacks; they may refer to each other."""
    for manifest in visit.manifests:
        others = [one for one in visit.manifests if one is not manifest]
        name = base_of(manifest) or str(manifest.get("kind"))
        found = missing(visit.cluster, manifest, others)
        for one in found:
            yield Check(name, one.weight, one.text, one.remedy)
        if not any(one.weight == "problem" for one in found):
            yield Check(
                name, "ok", "the cluster has what it needs" + (", as far as it may be read" if found else "")
            )
