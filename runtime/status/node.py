"""The nodes of a Workflow object, parsed defensively.

Source: NodeStatus in pkg/apis/workflow/v1alpha1/workflow_types.go of Argo 4.1. Objects are not trusted: fields may be
missing, and references may lead nowhere.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_mapping
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.parts import part, text, texts
from flowdsl.runtime.phases import FULFILLED, PENDING
from flowdsl.runtime.times import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]


class Node:
    """A node of `status.nodes`: what trees are built from, and where its pod ran."""

    def __init__(self, identity: str, found: Json, begun: float) -> None:
        """A node by its id; `begun` is the start of the run, for a node that has no time of its own yet."""
        self.found = found
        self.id = identity
        self.name = text(found, "name") or identity
        self.display = text(found, "displayName") or self.name
        self.type = text(found, "type")
        self.phase = text(found, "phase") or PENDING
        self.message = text(found, "message")
        started = seconds(found.get("startedAt"))
        self.started = begun if started is None else started
        self.finished = seconds(found.get("finishedAt"))
        self.template = text(found, "templateName") or text(part(found, "templateRef"), "template")
        self.host = text(found, "hostNodeName")
        """The node of the cluster on which its pod ran."""
        self.boundary: Node | None = None
        self.children: list[Node] = []
        flags = part(found, "nodeFlag")
        self.hooked = bool(flags.get("hooked"))
        self.retried = bool(flags.get("retried"))
        self.inputs = part(found, "inputs") or None
        self.outputs = part(found, "outputs") or None
        self.memo = part(found, "memoizationStatus") or None
        self.daemoned = bool(found.get("daemoned"))
        self.ip = text(found, "podIP")

    @property
    def fulfilled(self) -> bool:
        """Whether its dependents may continue; for a daemon, once it is ready."""
        return self.phase in FULFILLED or (self.daemoned and self.phase != PENDING)

    @property
    def ended(self) -> bool:
        """Whether its phase is final."""
        return self.phase in FULFILLED

    def attempts(self) -> list[Node]:
        """Of a Retry node: its attempts, without the nodes of hooks."""
        return [child for child in self.children if child.retried]

    def result(self) -> Node:
        """The node whose outputs count: of a Retry node, its last attempt."""
        if self.type == "Retry" and not (self.memo or {}).get("hit"):
            others = [child for child in self.children if not child.hooked]
            if others:
                return others[-1]
        return self


def nodes(workflow: Json) -> dict[str, Node]:
    """The nodes of a Workflow by id, in the order in which they began.

    The API sorts them by id. Times are whole seconds: among nodes that began in the same second, predecessors in
    the graph come first, then what the object names first.
    """
    status = part(workflow, "status")
    metadata = part(workflow, "metadata")
    begun = seconds(status.get("startedAt")) or seconds(metadata.get("creationTimestamp")) or 0.0
    given = part(status, "nodes")
    made = {key: Node(key, one, begun) for key, one in given.items() if is_mapping(one)}
    for node in made.values():
        node.boundary = made.get(text(node.found, "boundaryID"))
        node.children = [made[one] for one in map(str, texts(node.found, "children")) if one in made]
    return {node.id: node for node in _ordered(made)}


class _Place(NamedTuple):
    started: float
    position: int
    node: Node


def _ordered(made: Mapping[str, Node]) -> list[Node]:
    position = {identity: at for at, identity in enumerate(made)}
    before = dict.fromkeys(made, 0)
    for node in made.values():
        for child in node.children:
            before[child.id] += 1
    ready = [_Place(made[one].started, position[one], made[one]) for one in made if not before[one]]
    heapq.heapify(ready)
    found: dict[str, Node] = {}
    while ready:
        node = heapq.heappop(ready).node
        found[node.id] = node
        for child in node.children:
            before[child.id] -= 1
            if not before[child.id]:
                heapq.heappush(ready, _Place(child.started, position[child.id], child))
    return [*found.values(), *(made[one] for one in made if one not in found)]  # the rest forms a cycle
