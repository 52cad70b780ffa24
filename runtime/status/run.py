"""A run as its Workflow object shows it, with details from its pods and the nodes of the cluster."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import STORES
from flowdsl.grammar.labels import NODE_ID, maker
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.names import pod_name
from flowdsl.runtime.names import is_hidden
from flowdsl.runtime.parts import name_of, part, several, text
from flowdsl.runtime.phases import FAILURES, FULFILLED, PENDING, RUNNING, SUCCEEDED, phase
from flowdsl.runtime.status import gpu
from flowdsl.runtime.status.node import nodes
from flowdsl.runtime.status.outputs import given
from flowdsl.runtime.status.reasons import usual, why
from flowdsl.runtime.status.templates import Templates
from flowdsl.runtime.status.tree import plain, tree
from flowdsl.runtime.times import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flowdsl.runtime.status.gpu import Amounts
    from flowdsl.runtime.status.node import Node
    from flowdsl.runtime.status.tree import Entry

Json = dict[str, Any]


_NEUTRAL = ("Completed", "PodRunning")
_UNSEEN = "no controller has taken it yet: flowdsl doctor looks for one"
_FAILED_CHILD = regex(
    r"child '[^']*' (?:failed|errored)|template has failed or errored children and failFast enabled"
)


class Run:
    """A run; `pods`, `hosts` (by name) and `events` are further objects of the cluster, as far as they were requested.

    The nodes have to be decompressed: see `flowdsl.runtime.status.compressed.opened`.
    """

    def __init__(
        self,
        workflow: Json,
        pods: Iterable[Json] = (),
        hosts: Mapping[str, Json] | None = None,
        events: Iterable[Json] = (),
        *,
        readable: bool = True,
    ) -> None:
        self.workflow = workflow
        self.readable = readable
        """Whether its nodes could be read."""
        metadata, status = part(workflow, "metadata"), part(workflow, "status")
        self.name = text(metadata, "name")
        self.namespace = text(metadata, "namespace")
        self.phase = phase(workflow)
        self.message = plain(text(status, "message")) if text(status, "phase") else _UNSEEN
        self.created = seconds(metadata.get("creationTimestamp"))
        self.started = seconds(status.get("startedAt"))
        self.finished = seconds(status.get("finishedAt"))
        self.progress = text(status, "progress")
        self._pods: dict[str, Json] = {}
        self._workers: dict[
            str, list[Json]
        ] = {}  # the pods of Jobs, by the names of the nodes that created them
        for one in pods:
            notes = part(part(one, "metadata"), "annotations")
            if node := maker(notes):
                self._workers.setdefault(node, []).append(one)
            else:
                self._pods[text(notes, NODE_ID)] = one
        self._hosts = hosts or {}
        self._events: dict[str, list[Json]] = {}
        for event in events:
            self._events.setdefault(text(part(event, "involvedObject"), "name"), []).append(event)

    # These are not needed for most runs in a list.

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Its nodes by id, in the order in which they began."""
        return nodes(self.workflow)

    @cached_property
    def entries(self) -> list[Entry]:
        """Its steps, as its author sees them."""
        return tree(self.name, self.nodes.values())

    @cached_property
    def templates(self) -> Templates:
        """Its templates."""
        return Templates(self.workflow)

    @property
    def ended(self) -> bool:
        """Whether its phase is final."""
        return self.phase in FULFILLED

    @property
    def status(self) -> str:
        """Its phase, and the action of a user on it: `Running (Suspended)`, `Failed (Terminated)`."""
        shutdown = {"Stop": ("Stopping", "Stopped"), "Terminate": ("Terminating", "Terminated")}
        spec = part(self.workflow, "spec")
        if found := shutdown.get(text(spec, "shutdown")):
            if self.phase != SUCCEEDED:
                return f"{self.phase} ({found[self.ended]})"
        elif not self.ended and (spec.get("suspend") is True or any(map(self.waits, self.nodes.values()))):
            return f"{self.phase} (Suspended)"
        return self.phase

    @property
    def reason(self) -> str:
        """The most important message in one line: why it ended so, or what its first waiting step waits for.

        If its message only says that a part has failed, it is that of the first step that did.
        """
        if self.phase in FAILURES and (not self.message or of_a_child(self.message)):
            return _first_failure(self.entries) or self.message
        if self.message or self.ended:
            return self.message
        waiting = (
            node for node in self.pods_of() if node.phase == PENDING or self._waiting(self.workers(node))
        )
        return next((found for node in waiting if (found := self.why(node))), "")

    def waits(self, node: Node) -> bool:
        """Whether a node waits to be resumed by a user, and not for a time."""
        if node.type != "Suspend" or node.phase != RUNNING:
            return False
        return not part(self.templates.of(node), "suspend").get("duration")

    def duration(self, now: float) -> float | None:
        """The seconds that it took, or has taken so far."""
        if self.started is None:
            return None
        return (now if self.finished is None or not self.ended else self.finished) - self.started

    # --- its nodes -----------------------------------------------------------------------------------------

    def pods_of(self) -> list[Node]:
        """The nodes that have, or had, a pod."""
        return [node for node in self.nodes.values() if node.type == "Pod"]

    def pod(self, node: Node) -> Json | None:
        """The pod of a node, if it still exists."""
        return self._pods.get(node.id)

    def pod_name(self, node: Node) -> str:
        """The name of a node's pod."""
        pod = self.pod(node)
        if pod is not None:
            return name_of(pod)
        return pod_name(self.name, node.name, node.template)

    def workers(self, node: Node) -> list[Json]:
        """The pods of the Job that a node has created, as far as they still exist."""
        return self._workers.get(node.name, [])

    def gpus(self, node: Node) -> Amounts:
        """The GPUs that the pods of a node request, or by its template will have requested."""
        if node.type != "Pod":
            return {}
        if workers := self.workers(node):
            return gpu.together(map(gpu.of_pod, workers))
        pod = self.pod(node)
        return gpu.of_template(self.templates.of(node)) if pod is None else gpu.of_pod(pod)

    def hosts(self, node: Node) -> list[str]:
        """The nodes of the cluster on which the pods of a node are."""
        workers = [text(part(one, "spec"), "nodeName") for one in self.workers(node)]
        found = workers or [node.host or text(part(self.pod(node) or {}, "spec"), "nodeName")]
        return [one for one in dict.fromkeys(found) if one]

    def host(self, node: Node) -> str:
        """The same in one text."""
        return ", ".join(self.hosts(node))

    def card(self, node: Node) -> str:
        """The GPU model of these nodes, for pods that requested GPUs."""
        if not self.gpus(node):
            return ""
        cards = (gpu.card(self._hosts.get(host, {})) for host in self.hosts(node))
        return ", ".join(card for card in dict.fromkeys(cards) if card)

    def why(self, node: Node) -> str:
        """Why a node is in its phase: of a pod that does not run yet, the current reason of the cluster."""
        if node.ended:
            return plain(node.message)
        pod = self.pod(node)
        if pod is not None and (found := why(pod, self._events.get(self.pod_name(node), ()))):
            return found
        if (workers := self.workers(node)) and (found := self._waiting(workers)):
            return found
        lock = text(part(node.found, "synchronizationStatus"), "waiting")
        if lock and not node.message:
            return f"waits for the lock {lock}"
        if pod is not None and node.phase != RUNNING:
            return usual(pod) or plain(node.message)
        return plain(node.message)

    def _waiting(self, workers: list[Json]) -> str:
        """Why pods of a Job do not run yet: how many, and the reason for the first."""
        events = self._events
        reasons = [why(one, events.get(name_of(one), ())) for one in workers]
        waiting = [reason for reason in reasons if reason]
        return f"{len(waiting)} of {len(workers)} pods wait: {waiting[0]}" if waiting else ""

    # --- its GPUs ------------------------------------------------------------------------------------------

    def requested(self) -> int:
        """The GPUs that its pods request now: those that have not ended."""
        return gpu.total(self.gpus(node) for node in self.pods_of() if not node.ended)

    def gpu_hours(self, now: float) -> float:
        """The GPU-hours of its scheduled pods up to now, counted from their creation."""
        placed = (node for node in self.pods_of() if self.host(node))
        return sum(gpu.used(node, self.gpus(node), now) for node in placed) / 3600

    # --- its inputs and outputs -------------------------------------------------------------------------

    def parameters(self) -> dict[str, str]:
        """Its arguments."""
        own = part(part(self.workflow, "spec"), "arguments") or part(self.templates.spec, "arguments")
        return {
            text(one, "name"): text(one, "value")
            for one in several(own, "parameters")
            if one.get("value") is not None and not is_hidden(text(one, "name"))
        }

    def outputs(self) -> dict[str, str]:
        """The outputs of its entrypoint, and of steps with a global name: values, and keys of files."""
        shared = part(part(self.workflow, "status"), "outputs")
        parameters, artifacts = given(self.nodes.get(self.name), shared)
        values = {
            name: text(one, "value") for name, one in parameters.items() if one.get("value") is not None
        }
        keys = {name: key for name, one in artifacts.items() if (key := _key(one))}
        return values | keys

    def conditions(self) -> list[tuple[str, str]]:
        """The conditions that report a problem, with their messages."""
        return [
            (text(one, "type"), text(one, "message"))
            for one in several(part(self.workflow, "status"), "conditions")
            if text(one, "type") not in _NEUTRAL and text(one, "status") == "True"
        ]


def _first_failure(entries: Iterable[Entry]) -> str:
    """The step that failed first, of those that made their parents fail; and why."""
    for one in entries:
        if one.failed and one.leaf and one.message:
            return f"{one.path}: {one.message}"
        if one.failed and (found := _first_failure((*one.rounds, *one.children))):
            return found
    return ""


def of_a_child(message: str) -> bool:
    """Whether a message says only that a child has failed, whose own message says why."""
    return _FAILED_CHILD.fullmatch(message) is not None


def _key(artifact: Json) -> str:
    """The location of a file in its store, or on the volume."""
    for kind, field in STORES.items():
        if key := text(part(artifact, kind), field):
            return key
    return ""
