"""GPUs of pods: what they request, for how long they had them, and the models that nodes have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.amounts import asked, asked_by, gpus
from flowdsl.grammar.devices import is_gpu
from flowdsl.runtime.parts import part, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flowdsl.runtime.status.node import Node

Json = dict[str, Any]
Amounts = dict[str, int]
"""The number of devices of each extended resource."""

_CARDS = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "gpu.intel.com/product",
    "karpenter.k8s.aws/instance-gpu-name",
)
"""Node labels with the GPU model, as set by the vendors' feature discovery and by clouds."""


def of_pod(pod: Json) -> Amounts:
    """The GPUs that a pod requests."""
    return gpus(asked(part(pod, "spec")))


def of_template(template: Json) -> Amounts:
    """The GPUs that the pod of a template requests; podSpecPatch is ignored."""
    return gpus(asked_by(template))


def together(amounts: Iterable[Amounts]) -> Amounts:
    """The GPUs that several pods request."""
    found: Amounts = {}
    for one in amounts:
        for name, number in one.items():
            found[name] = found.get(name, 0) + number
    return found


def total(amounts: Iterable[Amounts]) -> int:
    """The number of all devices."""
    return sum(number for one in amounts for number in one.values())


def used(node: Node, wanted: Amounts, now: float) -> float:
    """The GPU-seconds of a scheduled pod: as the controller counts them, else devices times duration."""
    known = [float(value) for name, value in _durations(node.found).items() if is_gpu(name)]
    if known:
        return sum(known)
    return total([wanted]) * max(0.0, (now if node.finished is None else node.finished) - node.started)


def used_by_all(workflow: Json) -> float:
    """The GPU-seconds that the controller counts for the pods of a run that have ended."""
    durations = _durations(part(workflow, "status"))
    return sum(float(value) for name, value in durations.items() if is_gpu(name))


def _durations(found: Json) -> Mapping[str, float]:
    """Seconds times amounts. Source: docs/resource-duration.md of Argo 4.1."""
    durations = part(found, "resourcesDuration").items()
    return {name: value for name, value in durations if isinstance(value, int | float)}


def card(node: Json, *keys: str) -> str:
    """The GPU model in the labels of a node of the cluster, preferably under one of `keys`; empty if there is none."""
    labels = part(part(node, "metadata"), "labels")
    return next((found for label in (*keys, *_CARDS) if (found := text(labels, label))), "")
