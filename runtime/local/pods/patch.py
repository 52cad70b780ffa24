"""Applies `podSpecPatch`: a strategic merge patch of Kubernetes, in the parts that a local run supports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.merge import OF_PODS, merged
from flowdsl.runtime.local.pods.refusal import Refusal

if TYPE_CHECKING:
    from flowdsl.runtime.local.controller.events import StartPod

Json = dict[str, Any]

_BAD = "Error applying PodSpecPatch"


def patched(spec: Json, start: StartPod) -> Json:
    """A pod with its patches, applied one after the other. Raises Refusal."""
    for text in _patches(start):
        patch, fault = _applied(text)
        if fault:
            raise Refusal(f"{_BAD}: {fault}")
        spec = cast(Json, merged(spec, patch, OF_PODS))
    return spec


def judged(start: StartPod) -> tuple[str, int | None]:
    """Why Argo cannot apply the patches of a pod (empty if it can), and the `activeDeadlineSeconds` that they set."""
    seconds: int | None = None
    for text in _patches(start):
        patch, fault = _applied(text)
        if fault:
            return f"{_BAD}: {fault}", None
        seconds = patch.get("activeDeadlineSeconds", seconds)
    return "", seconds


def _patches(start: StartPod) -> list[str]:
    own = start.template.get("podSpecPatch")
    return [*start.patches, *([own] if own else [])]


def _applied(text: str) -> tuple[Json, str]:
    from flowdsl.compiler.lint.pods.patches import applied

    return applied(text)
