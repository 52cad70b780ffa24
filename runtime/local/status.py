"""Builds the Workflow object of a run with its status, in the form that tools for Argo expect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.labels import COMPLETED, PHASE
from flowdsl.runtime.local.controller.node import Json, Node
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import ENDED, PENDING, SUCCEEDED
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.runtime.local.controller.machine import Machine


def workflow(machine: Machine) -> Json:
    """The Workflow object of a run, with its current status."""
    manifest = machine.manifest
    metadata = part(manifest, "metadata")
    phase = machine.phase or PENDING
    labels = {PHASE: phase, COMPLETED: "true" if phase in ENDED else "false"}
    status: Json = {"phase": phase, **({"startedAt": rfc3339(machine.started)} if machine.phase else {})}
    if machine.finished is not None and phase in ENDED:
        status["finishedAt"] = rfc3339(machine.finished)
    if machine.message:
        status["message"] = machine.message
    nodes = list(machine.nodes.values())
    status["progress"] = progress(nodes)
    if phase in ENDED:
        status["conditions"] = [{"type": "Completed", "status": "True"}]
    status["nodes"] = {node.id: node.status(progress([node]) if node.type == "Pod" else "") for node in nodes}
    if machine.run.outputs:
        status["outputs"] = machine.run.outputs
    return {
        "apiVersion": manifest.get("apiVersion", "argoproj.io/v1alpha1"),
        "kind": "Workflow",
        "metadata": {
            **metadata,
            "namespace": metadata.get("namespace") or "default",
            "creationTimestamp": rfc3339(machine.started),
            "annotations": machine.marks["annotations"],
            "labels": {**machine.marks["labels"], **labels},
        },
        "spec": part(manifest, "spec"),
        "status": status,
    }


def progress(nodes: Iterable[Node]) -> str:
    """The number of succeeded pods among nodes: `3/5`."""
    pods = [node for node in nodes if node.type == "Pod"]
    return f"{sum(node.phase == SUCCEEDED for node in pods)}/{len(pods)}"
