"""A node of a run: the state of a template's execution, as it appears in `status.nodes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from flowdsl.runtime.phases import ENDED, FAILURES, FULFILLED, PENDING
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
Type = Literal[
    "Pod",
    "Container",
    "Steps",
    "StepGroup",
    "DAG",
    "TaskGroup",
    "Retry",
    "Skipped",
    "Suspend",
    "HTTP",
    "Plugin",
]


class Node:
    """A node. Its fields are those of NodeStatus in pkg/apis/workflow/v1alpha1 of Argo 4.1."""

    __slots__ = (
        "announced",
        "boundary",
        "children",
        "composed",
        "daemoned",
        "deadline",
        "display",
        "finished",
        "hooked",
        "id",
        "inputs",
        "ip",
        "late",
        "lock",
        "made",
        "memo",
        "message",
        "name",
        "outbound",
        "outputs",
        "phase",
        "plain",
        "refused",
        "retried",
        "runs",
        "scope",
        "started",
        "template",
        "template_ref",
        "timed_out",
        "told",
        "type",
    )

    def __init__(self, identity: str, name: str, type: Type, phase: str, now: float) -> None:
        self.id = identity
        self.name = name
        self.display = name
        self.type = type
        self.phase = phase
        self.message = ""
        self.started = now
        self.finished: float | None = now if phase in FULFILLED else None
        self.boundary: Node | None = None
        self.children: dict[str, Node] = {}
        self.outbound: list[Node] = []
        self.inputs: Json | None = None
        self.outputs: Json | None = None
        self.template = ""
        self.template_ref: Json | None = None
        self.scope = ""
        self.hooked = False
        self.retried = False
        self.plain = False
        """Whether an empty nodeFlag is shown, as the controller does for nodes that it adds itself."""
        self.refused = False
        """Whether Argo fails to resolve its template, or its arguments, on each visit."""
        self.told = -1
        """The pass in which it ended with an error reported to its caller: its successors continue in the next one."""
        self.made = -1
        """The pass in which it was created."""
        self.late = False
        """Whether Argo detects its end only after visiting all tasks: no successor starts in this pass."""
        self.daemoned = False
        self.runs = False
        """Whether its pod has started and not ended: until then no successor starts, whatever its phase."""
        self.composed = False
        """Whether it is a pod with a node for each of its containers, as that of a containerSet."""
        self.ip = ""
        self.deadline: tuple[float, str] | None = None
        """When its pod is stopped, and with which message instead of its own."""
        self.lock = ""
        """The lock that it waits for."""
        self.memo: Json | None = None
        self.timed_out = False
        """Whether its suspension has ended by itself, after its duration."""
        self.announced = False
        """Whether Argo has already recorded a child of it that does not exist yet."""

    @property
    def completed(self) -> bool:
        """Whether it has run and ended; a skipped node is not completed."""
        return self.phase in ENDED

    @property
    def fulfilled(self) -> bool:
        """Whether its dependents may continue; for a daemon, once it is ready."""
        return (self.phase in FULFILLED and not self.runs) or (self.daemoned and self.phase != PENDING)

    @property
    def ends_on_visits(self) -> bool:
        """Whether Argo detects its end while it visits the tasks, unlike that of a pod."""
        return self.timed_out or self.type in ("Steps", "DAG", "Retry", "TaskGroup")

    @property
    def failed(self) -> bool:
        """Whether its phase is Failed or Error."""
        return self.phase in FAILURES

    def adopt(self, child: Node) -> None:
        """Add another node to its children."""
        self.children[child.id] = child

    def mark(self, now: float, phase: str, message: str | None = None) -> None:
        """Set the phase; without a message, the current one stays."""
        self.phase = phase
        if message is not None:
            self.message = message
        if self.phase in FULFILLED and self.finished is None:
            self.finished = now

    def at_rest(self) -> bool:
        """Whether all of its descendants have ended, even if it has not taken note of that (childrenFulfilled)."""
        return all(at.children or at.fulfilled for at in (self, *self.below()))

    def below(self) -> Iterator[Node]:
        """All of its descendants."""
        waiting, seen = [self], {self.id}
        while waiting:
            found = [child for name, child in waiting.pop().children.items() if name not in seen]
            seen.update(child.id for child in found)
            waiting += found
            yield from found

    def attempts(self) -> list[Node]:
        """Of a Retry node: its attempts, and hooks of retried templates, which Argo takes for attempts."""
        return [child for child in self.children.values() if child.retried]

    def result(self) -> Node:
        """The node whose outputs count: of a Retry node, its last attempt."""
        if self.type == "Retry" and not (self.memo or {}).get("hit"):
            others = [child for child in self.children.values() if not child.hooked]
            if others:
                return others[-1]
        return self

    def is_within(self, other: Node) -> bool:
        """Whether it is another node, or inside of it."""
        at: Node | None = self
        while at is not None and at is not other:
            at = at.boundary
        return at is not None

    def in_exit_handler(self) -> bool:
        """Whether it is, or is inside of, an exit handler."""
        at: Node | None = self
        while at is not None:
            if at.hooked and at.name.endswith(".onExit"):
                return True
            at = at.boundary
        return False

    def status(self, progress: str = "") -> Json:
        """Its entry in `status.nodes`."""
        found: Json = {"id": self.id, "name": self.name, "displayName": self.display, "type": self.type}
        if self.template:
            found["templateName"] = self.template
        if self.template_ref is not None:
            found["templateRef"] = self.template_ref
        if self.scope:
            found["templateScope"] = self.scope
        found["phase"] = self.phase
        if self.boundary is not None:
            found["boundaryID"] = self.boundary.id
        if self.message:
            found["message"] = self.message
        found["startedAt"] = rfc3339(self.started)
        if self.finished is not None:
            found["finishedAt"] = rfc3339(self.finished)
        if progress:
            found["progress"] = progress
        if self.daemoned:
            found["daemoned"] = True
        if self.ip:
            found["podIP"] = self.ip
        if self.hooked or self.retried or self.plain:
            flags = (("hooked", self.hooked), ("retried", self.retried))
            found["nodeFlag"] = {name: True for name, on in flags if on}
        for key, value in (
            ("inputs", self.inputs),
            ("outputs", self.outputs),
            ("memoizationStatus", self.memo),
        ):
            if value:
                found[key] = value
        if self.lock:
            found["synchronizationStatus"] = {"waiting": self.lock}
        if self.children:
            found["children"] = list(self.children)
        if self.outbound:
            found["outboundNodes"] = [node.id for node in self.outbound]
        return found


class Panic(Exception):
    """An error that ends Argo's work on a run: the message becomes that of the run."""


def read(node: Node) -> Node:
    """The node whose outputs count, as Argo looks for it. Raises Panic. Source: possiblyGetRetryChildNode."""
    if node.type == "Retry" and node.announced and not (node.memo or {}).get("hit"):
        raise Panic(f"could not find the last node in Children of node {node.name}")
    return node.result()


def ends(node: Node) -> list[Node]:
    """The nodes that the successors of a node are connected to. Raises Panic. Source: getOutboundNodes."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        at = waiting.pop()
        match at.type:
            case "Skipped" | "Suspend" | "HTTP" | "Plugin":
                found.append(at)
            case "Pod" if not (at.template or at.template_ref):  # Argo does not find an inline template again
                found.append(at)
            case "Pod" if not at.composed:
                found.append(at)
            case "Pod" | "Container" | "TaskGroup":
                if at.announced:
                    raise Panic("was unable to obtain child node for child")
                below = list(at.children.values())
                if at.type == "Container":
                    below = [child for child in below if child.boundary is at.boundary]
                if below:
                    waiting.extend(reversed(below))
                else:
                    found.append(at)
            case "Retry" if at.announced:
                pass  # Argo cannot follow the last child
            case "Retry" if at.children:
                found.append(list(at.children.values())[-1])
            case "Steps" | "DAG" if (at.memo or {}).get("hit"):
                found.append(at)
            case _:
                waiting.extend(reversed(at.outbound))
    return found
