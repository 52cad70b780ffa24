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

STATE = "workflow.json"
"""The file in the folder of a run with its Workflow, as it was last written."""
_WORKING = ("Pod", "HTTP", "Plugin", "Container", "Suspend")


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
    nodes = machine.nodes.values()
    progress = Progress(nodes)
    status["progress"] = progress.whole
    if phase in ENDED:
        status["conditions"] = [{"type": "Completed", "status": "True"}]
    status["nodes"] = {node.id: node.status(progress.of(node)) for node in nodes}
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


class Progress:
    """How many of the nodes that do something themselves have succeeded, as `3/5`: of a run, and of each node.

    A node of another type has the sum of all nodes below it, if there are any. Sets of nodes are the bits of a
    number. Source: workflow/progress/updater.go of Argo 4.1.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        working = [node for node in nodes if node.type in _WORKING]
        self._places = {node.id: place for place, node in enumerate(working)}
        digits = ("1" if node.phase == SUCCEEDED else "0" for node in reversed(working))
        self._succeeded = int("".join(digits) or "0", 2)
        self._below: dict[str, int] = {}
        self.whole = self._told((1 << len(working)) - 1)

    def of(self, node: Node) -> str:
        """The progress of a node, or empty."""
        if node.id in self._places:
            return f"{int(node.phase == SUCCEEDED)}/1"
        below = self._reached(node)
        return self._told(below) if below else ""

    def _told(self, nodes: int) -> str:
        return f"{(nodes & self._succeeded).bit_count()}/{nodes.bit_count()}"

    def _reached(self, node: Node) -> int:
        """The working nodes below a node."""
        waiting = [] if node.id in self._below else [(node, iter(node.children.values()))]
        while waiting:
            at, children = waiting[-1]
            child = next((one for one in children if one.id not in self._below), None)
            if child is not None:
                self._below[child.id] = 0
                waiting.append((child, iter(child.children.values())))
                continue
            waiting.pop()
            found = 0
            for one in at.children.values():
                found |= self._below[one.id]
                if one.id in self._places:
                    found |= 1 << self._places[one.id]
            self._below[at.id] = found
        return self._below[node.id]
