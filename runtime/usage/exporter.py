"""Reads the metrics of NVIDIA's DCGM exporter: devices, and the pods that hold them.

Sources: the text format of Prometheus, and etc/default-counters.csv of dcgm-exporter.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Json = dict[str, Any]

PATH = "metrics"
_PORT = 9400


class Sample(NamedTuple):
    """One value of one metric."""

    metric: str
    labels: dict[str, str]
    value: float


class Device(NamedTuple):
    """One device, or one MIG instance of it, and its usage; None where the exporter does not tell.

    `duty` in percent, memory in MiB. `number` is `0`, of an instance `0/7`.
    """

    number: str
    product: str
    duty: float | None
    used: float | None
    free: float | None

    @property
    def memory(self) -> float | None:
        """Its total usable memory, in MiB."""
        return None if self.used is None or self.free is None else self.used + self.free


def port(pod: Json) -> int:
    """The port of an exporter's pod: the one named `metrics`, else the usual one."""
    ports = [one for each in several(part(pod, "spec"), "containers") for one in several(each, "ports")]
    return next((int(one["containerPort"]) for one in ports if one.get("name") == "metrics"), _PORT)


_SAMPLE = regex(r"([a-zA-Z_:][\w:]*)(?:\s*\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*", re.ASCII)
_LABEL = regex(r'\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?', re.ASCII)
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def samples(text: str) -> Iterator[Sample]:
    """The samples in a text of Prometheus' format. Invalid lines are skipped."""
    for line in text.split("\n"):
        match = _SAMPLE.fullmatch(line) if not line.startswith("#") else None
        if match is None:
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        labels = {
            name: re.sub(r"\\.", lambda found: _ESCAPES.get(found[0], found[0]), raw)
            for name, raw in _LABEL.findall(match[2] or "")
        }
        yield Sample(match[1], labels, value)


def held(of: Iterable[Sample]) -> dict[tuple[str, str], list[Device]]:
    """The devices of each pod, by namespace and name, in their order.

    `DCGM_FI_DEV_GPU_UTIL` does not exist for parts of a device: there `DCGM_FI_PROF_GR_ENGINE_ACTIVE`, a share of
    1, says how busy it is.
    """
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    products: dict[tuple[str, str, str], str] = {}
    for sample in of:
        labels = sample.labels
        pod = labels.get("pod") or labels.get("pod_name") or ""
        if not pod or math.isnan(sample.value):
            continue
        index = labels.get("gpu", "")
        if labels.get("GPU_I_ID"):
            index += f"/{labels['GPU_I_ID']}"
        key = (labels.get("namespace") or labels.get("pod_namespace") or "", pod, index)
        found.setdefault(key, {})[sample.metric.removeprefix("DCGM_FI_")] = sample.value
        products.setdefault(key, labels.get("modelName", ""))
    by_pod: dict[tuple[str, str], list[Device]] = {}
    for key in sorted(found, key=_order):
        values = found[key]
        busy = values.get("PROF_GR_ENGINE_ACTIVE")
        duty = values.get("DEV_GPU_UTIL", None if busy is None else 100 * busy)
        device = Device(key[2], products[key], duty, values.get("DEV_FB_USED"), values.get("DEV_FB_FREE"))
        by_pod.setdefault(key[:2], []).append(device)
    return by_pod


def _order(key: tuple[str, str, str]) -> tuple[str, str, list[int], str]:
    return key[0], key[1], [int(number) for number in re.findall(r"\d+", key[2])], key[2]
