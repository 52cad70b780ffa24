"""Volumes and the mounts of them, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.expressions import text_of
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json, Origins


def declare(spec: Json, found: Sequence[ir.PodVolume], origins: Origins) -> None:
    """Write the volumes that all pods can mount: existing claims, and those that are created for the run.

    Argo deletes the claims it created when the run has ended; by default it would keep them after a failure.
    Source: Argo 4.1, volumeClaimGC.
    """
    kept = [one for one in found if one.kind != "new"]
    new = [one for one in found if one.kind == "new"]
    if kept:
        spec["volumes"] = [volume(one) for one in kept]
        _note(spec["volumes"], kept, origins)
    if new:
        spec["volumeClaimTemplates"] = [_template(one) for one in new]
        _note(spec["volumeClaimTemplates"], new, origins)
        spec["volumeClaimGC"] = {"strategy": "OnWorkflowCompletion"}


def _note(written: list[Json], found: Sequence[ir.PodVolume], origins: Origins) -> None:
    for index, one in enumerate(found):
        if one.place:
            origins.note(written, index, one.place)


def volume(found: ir.PodVolume) -> Json:
    """A volume as declared in a pod."""
    match found.kind:
        case "claim" | "new":
            source: Json = {"persistentVolumeClaim": {"claimName": found.source}}
        case "scratch":
            medium = "Memory" if found.memory else None
            most = None if found.size is None else str(found.size)
            source = {"emptyDir": filled({"medium": medium, "sizeLimit": most})}
        case "config":
            source = {"configMap": {"name": found.source}}
        case "secret":
            source = {"secret": {"secretName": found.source}}
        case "host":
            source = {"hostPath": {"path": found.source}}
    return {"name": found.name, **source}


def _template(found: ir.PodVolume) -> Json:
    """A claim that Argo creates for a run."""
    spec: Json = {"accessModes": [found.mode], "resources": {"requests": {"storage": str(found.size)}}}
    if found.storage_class is not None:
        spec["storageClassName"] = found.storage_class
    return {"metadata": {"name": found.name}, "spec": spec}


def mount(found: ir.Mount) -> Json:
    """A volume, or a part of it, at a path of a container."""
    made: Json = {"name": found.volume, "mountPath": found.path}
    if found.sub_path:
        path = found.sub_path
        made["subPath"] = path if isinstance(path, str) else text_of(path, t.TEXT)
    if found.read_only:
        made["readOnly"] = True
    return made
