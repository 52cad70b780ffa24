"""Checks the GPUs of nodes against the settings: products, pools, taints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.amounts import amounts
from flowdsl.compiler.amounts import gpus as counted
from flowdsl.compiler.options.placement import label
from flowdsl.compiler.taints import notation
from flowdsl.runtime.checkup.visit import Check
from flowdsl.runtime.cluster.kinds import NODE
from flowdsl.runtime.fitting import repelling
from flowdsl.runtime.parts import name_of, part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.runtime.checkup.visit import Visit

Json = dict[str, Any]


def gpus(visit: Visit) -> Iterator[Check]:
    """The GPUs of the nodes, and whether steps with `gpu=` can be scheduled on them."""
    nodes = visit.list(NODE)
    if nodes is None:
        yield Check("gpus", "unchecked", "nodes may not be read", f"kubectl auth can-i list {NODE.resource}")
        return
    equipped = [node for node in nodes if _devices(node)]
    if not equipped:
        text = f"none of {len(nodes)} nodes has a GPU now: a step with gpu= waits until one is added"
        yield Check("gpus", "note", text)
    else:
        yield from _labels(visit, equipped)
        yield from _taints(visit, equipped)
    yield from _settings(visit, nodes)


def _devices(node: Json) -> dict[str, int]:
    return counted(amounts(part(part(node, "status"), "capacity")))


def _labels_of(node: Json) -> dict[str, str]:
    found: dict[str, str] = part(part(node, "metadata"), "labels")
    return found


def _listed(names: Iterable[str]) -> str:
    known = list(dict.fromkeys(names))
    return ", ".join(f"`{name}`" for name in known[:5]) + (
        f" and {len(known) - 5} more" if len(known) > 5 else ""
    )


def _labels(visit: Visit, nodes: list[Json]) -> Iterator[Check]:
    key = label("gpu.product", visit.profile)
    products = sorted({labels[key] for node in nodes if key in (labels := _labels_of(node))})
    if products:
        yield Check("gpus", "ok", f"nodes with GPUs: {len(nodes)}, of {_listed(products)}")
    bare = [name_of(node) for node in nodes if key not in _labels_of(node)]
    if bare:
        text = f"nodes with GPUs have no label `{key}`, so product= finds none of them: {_listed(bare)}"
        own = f'labels = {{"gpu.product" = "..."}} in {visit.settings}'
        remedy = f"install GPU feature discovery, or name the label: {own}"
        yield Check("gpus", "note", text, remedy)


def _taints(visit: Visit, nodes: list[Json]) -> Iterator[Check]:
    """Taints that a step with a GPU would not tolerate, given the usual toleration and those of the settings."""
    profile = visit.profile
    found: dict[str, list[str]] = {}
    for node in nodes:
        labels = _labels_of(node)
        known = [{"key": name, "operator": "Exists", "effect": "NoSchedule"} for name in _devices(node)]
        known += profile.tolerations
        for pool in profile.pools.values():
            if pool.labels.items() <= labels.items():
                known += pool.tolerations
        if profile.spot and labels.get(profile.spot.label[0]) == profile.spot.label[1]:
            known += profile.spot.tolerations
        for taint in repelling(node, {"tolerations": known}):
            found.setdefault(notation(taint), []).append(name_of(node))
    for words, names in found.items():
        text = f"steps with gpu= do not tolerate the taint `{words}` of {_listed(names)}: they are kept away"
        remedy = f'write gpu-taints = ["{words}"] in {visit.settings}, or in the pool that these nodes are'
        yield Check("gpus", "problem", text, remedy)


def _settings(visit: Visit, nodes: list[Json]) -> Iterator[Check]:
    """Products and pools of the settings that no node has: an autoscaler may add one."""
    key = label("gpu.product", visit.profile)
    has = {_labels_of(node).get(key) for node in nodes}
    for name, product in visit.profile.products.items():
        if not has.intersection(product.labels):
            text = f"no node has the product `{name}` now ({key} = {' or '.join(product.labels)})"
            yield Check("gpus", "note", text, f"kubectl get nodes -L {key} shows what there is")
    for name, pool in visit.profile.pools.items():
        if pool.labels and not any(pool.labels.items() <= _labels_of(node).items() for node in nodes):
            shown = ", ".join(f"{word}={value}" for word, value in pool.labels.items())
            text = f"no node is in the pool `{name}` now ({shown})"
            yield Check("gpus", "note", text, "kubectl get nodes --show-labels shows what there is")
