"""Why a pod is not running yet.

Sources: kubelet and scheduler of Kubernetes 1.35: conditions of the pod, states of its containers, and Events, which
tell what the pod itself does not (a volume that cannot be mounted).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.runtime.parts import part, several, text
from flowdsl.runtime.phases import PENDING

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = dict[str, Any]

_USUAL = ("ContainerCreating", "PodInitializing")
"""Reasons that only mean that startup takes a while."""


def why(pod: Json, events: Iterable[Json] = ()) -> str:
    """Why a pod is not running yet, in the words of the cluster; empty if it runs, or nothing is known."""
    if text(part(pod, "status"), "phase") not in (PENDING, ""):
        return ""
    found = _of_containers(pod) or _of_conditions(pod)
    if found:
        return found
    warnings = [one for one in events if text(one, "type") == "Warning"]
    if warnings:
        last = max(warnings, key=seen)
        return _said(text(last, "reason"), text(last, "message"))
    return ""


def usual(pod: Json) -> str:
    """The normal state of a pod that nothing keeps from running: `ContainerCreating`, `PodInitializing`."""
    return next((reason for one in _waiting(pod) if (reason := text(one, "reason"))), "")


def seen(event: Json) -> str:
    """When an Event happened last, as a text that can be compared.

    Source: the fields of core/v1 Event; the scheduler fills in `eventTime` only.
    """
    series = text(part(event, "series"), "lastObservedTime")
    times = (series, text(event, "lastTimestamp"), text(event, "eventTime"), text(event, "firstTimestamp"))
    return next((one for one in times if one), text(part(event, "metadata"), "creationTimestamp"))


def _of_containers(pod: Json) -> str:
    for one in _waiting(pod):
        if (reason := text(one, "reason")) and reason not in _USUAL:
            return _said(reason, text(one, "message"))
    return ""


def _waiting(pod: Json) -> list[Json]:
    status = part(pod, "status")
    containers = [*several(status, "initContainerStatuses"), *several(status, "containerStatuses")]
    containers.sort(key=lambda one: text(one, "name") != "main")
    return [part(part(one, "state"), "waiting") for one in containers]


def _of_conditions(pod: Json) -> str:
    for one in several(part(pod, "status"), "conditions"):
        if text(one, "type") == "PodScheduled" and text(one, "status") == "False":
            return _said(text(one, "reason"), text(one, "message"))
    return ""


def _said(reason: str, message: str) -> str:
    return ": ".join(part for part in (reason, message) if part)
