"""GPUs: what pods ask for, how long they had them, and which cards a node of the cluster has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.quantity import quantity
from flowdsl.runtime.status.node import mapping, mappings, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flowdsl.runtime.status.node import Node

Json = dict[str, Any]
Amounts = dict[str, int]
"""Devices by the name of their resource."""

_NAMES = re.compile(
    r"nvidia\.com/mig-.+|gpu\.intel\.com/(?!.*(?:memory|millicores|monitoring|tiles)).+|habana\.ai/.+|.+/Ascend.+"
    r"|aws\.amazon\.com/neuron.*|.+/(?:v?gpu|gpu\.shared|gpu-count|tpu)"
)
_CARDS = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "gpu.intel.com/product",
    "karpenter.k8s.aws/instance-gpu-name",
)
"""Labels of nodes that name their cards, as the vendors' discovery and the clouds write them."""


def is_gpu(resource: str) -> bool:
    """Whether a resource counts devices that compute, of whatever vendor, and not their memory or the like."""
    return _NAMES.fullmatch(resource) is not None


def of_pod(pod: Json) -> Amounts:
    """What a pod asks for.

    Source: the scheduler's rule, the sum over containers or the most of one that comes before them.
    """
    return _asked(mapping(pod, "spec"), ("containers",))


def of_template(template: Json) -> Amounts:
    """What the pod of a template asks for; a patch of its pod is not looked at."""
    alone = [mapping(template, kind) for kind in ("container", "script")]
    several = mappings(mapping(template, "containerSet"), "containers")
    return _asked({**template, "containers": [*alone, *several]}, ("containers", "sidecars"))


def _asked(of: Json, kinds: tuple[str, ...]) -> Amounts:
    found: Amounts = {}
    for kind in kinds:
        for container in mappings(of, kind):
            for name, amount in _limits(container).items():
                found[name] = found.get(name, 0) + amount
    for container in mappings(of, "initContainers"):
        for name, amount in _limits(container).items():
            found[name] = max(found.get(name, 0), amount)
    return found


def _limits(container: Json) -> Amounts:
    found: Amounts = {}
    for name, amount in mapping(mapping(container, "resources"), "limits").items():
        if is_gpu(name) and (number := _whole(amount)):
            found[name] = number
    return found


def _whole(amount: object) -> int:
    try:
        return int(quantity(str(amount)))
    except GrammarError:
        return 0


def total(amounts: Iterable[Amounts]) -> int:
    """All devices together."""
    return sum(number for one in amounts for number in one.values())


def used(node: Node, asked: Amounts, now: float) -> float:
    """The seconds of one GPU that a pod with a place had: what the controller says, else devices times how long."""
    known = [float(value) for name, value in _durations(node.found).items() if is_gpu(name)]
    if known or not asked:
        return sum(known)
    return total([asked]) * max(0.0, (now if node.finished is None else node.finished) - node.started)


def used_by_all(workflow: Json) -> float:
    """The seconds of one GPU that the controller counts for the pods of a run that have ended."""
    durations = _durations(mapping(workflow, "status"))
    return sum(float(value) for name, value in durations.items() if is_gpu(name))


def _durations(found: Json) -> Mapping[str, float]:
    """Seconds times amounts. Source: docs/resource-duration.md of Argo 4.1."""
    durations = mapping(found, "resourcesDuration").items()
    return {name: value for name, value in durations if isinstance(value, int | float)}


def card(node: Json) -> str:
    """The card that a node of the cluster is labelled with; empty if it says none."""
    labels = mapping(mapping(node, "metadata"), "labels")
    return next((found for label in _CARDS if (found := text(labels, label))), "")
