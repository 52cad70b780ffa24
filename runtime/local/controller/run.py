"""The state of a run: its nodes, its variables, and the services that executions and frames use.

It does not know the bodies of templates: these request what they need, and report when they have ended.
Source: the methods of wfOperationCtx in workflow/controller of Argo 4.1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.agenda import Agenda
from flowdsl.runtime.local.controller.cache import Cache, Entry
from flowdsl.runtime.local.controller.locks import Locks
from flowdsl.runtime.local.controller.names import any_string, node_id
from flowdsl.runtime.local.controller.node import Json, Node, Type
from flowdsl.runtime.local.controller.parallelism import Parallelism
from flowdsl.runtime.local.controller.scope import Globals, Value, Variables
from flowdsl.runtime.local.controller.templates import Base, Templates
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import SUCCEEDED
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.protocols import Boundary, Call, Leaf, Retries

STEP_TOO_LATE = "Step exceeded its deadline"
TIMEOUT = "timeout"
"""The error passed to the caller of a template that has waited too long: it is a failure, not an error."""

_SEPARATOR = regex(r"(\[\d+\])?\.")


class Run:
    """The state of a run, with the operations on it."""

    def __init__(self, manifest: Json, config: dict[str, dict[str, str]], cache: Cache) -> None:
        metadata = part(manifest, "metadata")
        self.name = str(metadata.get("name", ""))
        self.config = config
        self.cache = cache
        self.host = "localhost"
        self.now = 0.0
        self.agenda = Agenda()
        self.parallelism = Parallelism(self.agenda, self.within)
        self.strategy: events.Strategy | None = None
        self.deadline: float | None = None
        self.spec: Json = {}
        self.arguments: Json = {}
        self.volumes: list[Json] = []
        self.outputs: Json = {}
        self.globals = Globals()
        self.settled = Globals()
        """`globals` as they were when this pass began."""
        self.settled_at = 0
        """`globals.changes` at that time."""
        self.shared = Variables()
        """The outputs published by a global name: outputs of steps see no other variables of the workflow."""
        self.overwritten = Variables()
        """The values that published outputs had when this pass began, of those that have other ones since."""
        self._unseen: list[tuple[Node, str, Value]] = []
        """Those that a node published in this pass: the node, the name, and the previous value or None."""
        self.templates = Templates(self.name, {}, [])
        self.locks = Locks(str(metadata.get("namespace") or "default"), config)
        self.nodes: dict[str, Node] = {}
        self.by_id: dict[str, Node] = {}
        self.frames: dict[str, Boundary] = {}
        self.begun: list[Boundary] = []
        """The frames that have started in this pass."""
        self.interruptions: list[tuple[float, float]] = []
        """When nothing of the run made progress: the start and the seconds of each pause."""
        self.running: dict[str, Leaf] = {}
        self.suspended: dict[str, tuple[Leaf, float | None]] = {}
        self.backing_off: dict[str, tuple[bool, Callable[[], None]]] = {}
        """The retries that back off, by node id: whether each is in an exit handler, and what starts it."""
        self.leaving: dict[str, Callable[[], None]] = {}
        """The running exit hooks, by name, each with the action that continues without it."""
        self.held: dict[str, Callable[[Node, Callable[[], None]], bool]] = {}
        """Of nodes that Argo may not visit for a while: postpones an action in one until it does, or returns False."""
        self.retries: dict[str, Retries] = {}
        """The executions with retries, by node id."""
        self.lookups: dict[tuple[str, str], list[Callable[[], None]]] = {}
        """The lookups that found nothing and are repeated, by cache and key."""
        self.unneeded: dict[str, Callable[[], None]] = {}
        """By the last attempts of ended daemons without running successors: starts the next attempt."""
        self.act: Callable[[events.Action], None]
        """Called with each action to perform."""
        self.patched: Callable[[events.StartPod], tuple[str, int | None]] = lambda _: ("", None)
        """Why the patches of a pod cannot be applied, or empty, and the deadline in seconds that they set."""
        self.execute: Callable[[Call], None]
        """Executes a template."""
        self.failures = 0
        """How many times a node has failed."""
        self._calls = 0
        self._watchers: dict[str, list[Callable[[], None]]] = {}
        self._fulfilled: dict[str, list[Callable[[], None]]] = {}

    def begin_pass(self) -> None:
        """Begin a pass (one reconciliation of the workflow)."""
        self.count_pass()
        self.look()

    def count_pass(self) -> None:
        """Begin a pass with what its event changes."""
        self.agenda.passes += 1
        self.overwritten.clear()

    def look(self) -> None:
        """Adopt the current variables, with which running templates are resolved in this pass."""
        for name in self.globals.changed:
            if name in self.globals:
                self.settled[name] = self.globals[name]
            elif name in self.settled:
                del self.settled[name]
        self.globals.changed.clear()
        self.settled_at = self.globals.changes
        self._unseen.clear()
        self.parallelism.begin_pass()

    def drain(self) -> None:
        """Process passes until no work is left."""
        self.end_pass()
        while self.agenda.more():
            self.begin_pass()
            self.agenda.go_on()
            self.end_pass()

    def end_pass(self) -> None:
        """Do the work of this pass, and give free places to whatever waits for one."""
        self._work()
        if self.strategy is not None:
            self._end_frames()
        self.begun.clear()

    def _work(self) -> None:
        self.agenda.work()
        while self.parallelism.hand_out():
            self.agenda.work()

    def _end_frames(self) -> None:
        """After a stop of the run: end all frames that must not run, inner ones first, and do the resulting work."""
        waiting = list(self.frames.values())
        self.begun.clear()
        while waiting:
            frame = waiting.pop()
            if not frame.over and not self.may_run(frame.on_exit):
                frame.shut_down()
                self._work()
            waiting += self.begun
            self.begun.clear()

    def back_off(self, node: Node, on_exit: bool, until: float, again: Callable[[], None]) -> None:
        """Schedule a retry for a time, or earlier if no more retries are allowed."""

        def begin() -> None:
            if self.backing_off.pop(node.id, None) is not None:
                again()

        self.backing_off[node.id] = (on_exit, begin)
        self.agenda.at(until, begin, lambda: node.id in self.backing_off)

    def call(self, asked: Call) -> None:
        """Execute the template that a task, step, hook or workflow names, in the turn that follows from its place."""
        above = () if asked.frame is None else asked.frame.execution.call.turn
        self._calls += 1
        self.execute(asked._replace(turn=(*above, (asked.rank, not asked.hooked, self._calls))))

    def begin_frame(self, frame: Boundary) -> None:
        """Start the children of a template of type steps or dag."""
        self.frames[frame.node.name] = frame
        self.begun.append(frame)
        if frame.execution.call.frame is not None:
            frame.execution.call.frame.inside[frame.node.name] = frame
        frame.start()

    def needs_passes(self, node: Node) -> bool:
        """Whether a node progresses only when Argo visits it, unlike a pod, or a node that a user resumes."""
        return node.type in ("Steps", "DAG", "Retry") or self.is_timed(node)

    def is_timed(self, node: Node) -> bool:
        """Whether a node is suspended for a duration."""
        return self.suspended.get(node.id, (None, None))[1] is not None

    def leave(self, node: Node) -> None:
        """Stop executing a node; pods that it has started continue."""
        if (frame := self.frames.get(node.name)) is not None:
            frame.abandon()
        self.retries.pop(node.id, None)
        self.suspended.pop(node.id, None)

    def end_frame(self, frame: Boundary) -> None:
        """Remove a frame that has ended; suspended nodes in it no longer time out, but can be resumed."""
        self.frames.pop(frame.node.name, None)
        for identity, (execution, _) in self.suspended.items():
            if execution.call.frame is frame:
                self.suspended[identity] = (execution, None)
        if frame.execution.call.frame is not None:
            frame.execution.call.frame.inside.pop(frame.node.name, None)

    def new_node(
        self,
        name: str,
        type: Type,
        phase: str,
        boundary: Node | None,
        holder: Json,
        base: Base,
        *,
        waits: bool = False,
    ) -> Node:
        """Create a node; its display name is its name without that of its boundary (initializeNode)."""
        identity = node_id(self.name, name)
        while identity in self.by_id:  # in Argo the second of two names with the same hash never runs
            identity += "-2"
        node = Node(identity, name, type, phase, self.now)
        node.made = self.agenda.passes
        node.boundary = boundary
        node.template = str(holder.get("template") or "")
        node.template_ref = holder.get("templateRef")
        node.scope = base.scope
        if boundary is not None:
            node.display = _SEPARATOR.sub("", name.removeprefix(boundary.name), count=1)
        self.nodes[name] = node
        self.by_id[identity] = node
        self._count(node, "", phase, "", "" if waits else phase)
        self.failures += node.failed
        return node

    def mark(
        self,
        node: Node,
        phase: str,
        message: str | None = None,
        *,
        daemon: bool = False,
        runs: bool | None = None,
    ) -> None:
        """Set the phase of a node, perhaps as a daemon that is ready, and notify whatever waits for it.

        `runs`: whether its pod runs from now on, if that changes. If a node ends in the pass in which it was
        created, Argo continues after it before it visits anything else.
        """
        before = node.phase
        was = node.fulfilled
        node.daemoned = node.daemoned or daemon
        node.runs = node.runs if runs is None else runs
        node.mark(self.now, phase, message)
        self._count(node, before, phase, "" if node.lock else before, phase)
        self.failures += node.failed
        at_once = node.fulfilled and not was and node.made == self.agenda.passes and not node.late
        self.changed(node, soon=at_once and node.type == "TaskGroup")  # others have an order of their own
        if node.fulfilled and not was:
            self.within(node.boundary, *self._fulfilled.pop(node.id, ()), soon=at_once)

    def changed(self, node: Node, *, soon: bool = False) -> None:
        """Notify the watchers of a node."""
        self.within(node.boundary, *self._watchers.get(node.id, ()), soon=soon)

    def within(self, node: Node | None, *actions: Callable[[], None], soon: bool = False) -> None:
        """Call actions inside of a node: now, or when Argo visits the node again."""
        for action in actions:
            at = node
            while at is not None and not (at.id in self.held and self.held[at.id](node or at, action)):
                at = at.boundary
            if at is None:
                visit = partial(self._visit, node, action) if self.parallelism.narrow else action
                (self.agenda.soon if soon else self.agenda.later)(visit)

    def _visit(self, node: Node | None, action: Callable[[], None]) -> None:
        """Call an action inside of a node, unless Argo skips it in this pass, since pods have all places."""
        again = partial(self._visit, node, action)
        at = node
        while at is not None:
            frame = self.frames.get(at.name)
            if self.parallelism.postpones(frame, again):
                return
            if frame is not None and self.parallelism.precede(frame.execution.call.turn, again):
                return
            at = at.boundary
        action()

    def when_fulfilled(self, node: Node, action: Callable[[], None]) -> None:
        """Call an action once a node has ended, or is a daemon that is ready."""
        if node.fulfilled:
            self.agenda.soon(action)
        else:
            self._fulfilled.setdefault(node.id, []).append(action)

    def when_changed(
        self,
        node: Node,
        action: Callable[[], None],
        first: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        """Call an action on each change of a node's phase, and once initially: by `first`, or as this pass ends."""
        self._watchers.setdefault(node.id, []).append(action)
        (first or self.agenda.at_last)(action)

    def lock_taken(self, node: Node) -> None:
        """Note that a node has acquired its lock."""
        if node.lock:
            node.lock = ""
            node.message = ""
            self._count(node, node.phase, node.phase, "", node.phase)

    def _count(self, node: Node, before: str, after: str, pod_before: str, pod_after: str) -> None:
        frame = None if node.boundary is None else self.frames.get(node.boundary.name)
        self.parallelism.count(node, frame, before, after, pod_before, pod_after)

    def acquire(
        self, holder: str, wanted: Json, again: Callable[[], None], stop: Callable[[str], None]
    ) -> tuple[str, str] | None:
        """Acquire the locks of a template; see Locks.acquire. Raises ArgoError."""
        found = self.locks.acquire(holder, wanted, again, stop)
        self.agenda.later(*self.locks.woken())
        return found

    def decline(self, wanted: Json, holder: str = "", stop: Callable[[str], None] | None = None) -> None:
        """Withdraw a request for locks that is no longer wanted, or not yet, so that others can have them."""
        self.locks.decline(wanted, holder, stop)
        self.agenda.later(*self.locks.woken())

    def release(self, holder: str) -> None:
        """Release the locks of an execution."""
        self.agenda.later(*self.locks.release(holder))

    def remember(self, outputs: Json | None, maker: Node | None = None) -> None:
        """Publish outputs with a global name (addOutputsToGlobalScope), those of a `maker` that ends in a pass.

        Argo does so when a pod has ended, for a template of steps when it ends, and for the tasks of a DAG when it
        has succeeded: no output of a DAG that no other template has called is ever published.
        """
        for one in several(outputs, "parameters"):
            name = one.get("globalName")
            if name and one.get("value") is not None:
                text, full = any_string(one["value"]), f"workflow.outputs.parameters.{name}"
                if self.globals.get(full, text) != text:
                    self.overwritten.setdefault(full, self.globals[full])
                self.globals[full] = text
                self._hand_on(full, text, maker)
                _put(self.outputs.setdefault("parameters", []), {"name": name, "value": text})
        for one in several(outputs, "artifacts"):
            name = one.get("globalName")
            if name:
                rest = {key: value for key, value in one.items() if key not in ("globalName", "path")}
                self._hand_on(f"workflow.outputs.artifacts.{name}", {**rest, "name": name}, maker)
                _put(self.outputs.setdefault("artifacts", []), {**rest, "name": name})

    def _hand_on(self, name: str, value: Value, maker: Node | None) -> None:
        before = self.shared.get(name)
        if maker is not None and before != value:
            self._unseen.append((maker, name, before))
        self.shared[name] = value

    def known_to(self, steps: Node) -> Variables:
        """The global outputs that Argo knew when it visited a template of steps in this pass, before its children."""
        unseen = [(name, before) for maker, name, before in self._unseen if maker.is_within(steps)]
        if not unseen:
            return self.shared
        found = Variables(self.shared)
        for name, before in reversed(unseen):
            found[name] = before
        return Variables({name: value for name, value in found.items() if value is not None})

    def keep(self, node: Node) -> None:
        """Store the outputs of a node in the cache that it was looked up in, and repeat the lookups for its key.

        Argo stores those of pods before it visits anything (performAssessment).
        """
        memo: Json = node.memo or {}
        cache, key = memo["cacheName"], memo["key"]
        self.cache.keep(cache, key, Entry(node.id, node.outputs or {}, self.now))
        repeat = self.agenda.soon if node.type == "Pod" else self.agenda.in_next_pass
        for lookup in self.lookups.pop((cache, key), ()):
            repeat(lookup)

    def goes_on(self) -> bool:
        """Whether an error does not end the run immediately: pods or daemons are running."""
        return self.awaits_pods() or any(node.daemoned for node in self.nodes.values())

    def awaits_pods(self) -> bool:
        """Whether a pod is running, which the run waits for before it ends."""
        return any(self.by_id[name].runs for name in self.running)

    def end_daemon(self, node: Node) -> None:
        """Stop a daemon that is no longer needed (killDaemonedChildren)."""
        if node.daemoned:
            node.daemoned = False
            self.mark(node, SUCCEEDED)
            if node.id in self.running:
                self.act(events.StopPod(node.id))

    def after(self, time: float, seconds: float) -> float:
        """The time at which the run has been active for so many seconds since another time."""
        return time + seconds + sum(lost for at, lost in self.interruptions if at >= time)

    def may_run(self, on_exit: bool) -> bool:
        """Whether a pod may start after the run was stopped (ShouldExecute)."""
        return self.strategy is None or (self.strategy == "Stop" and on_exit)

    def refusal(self, node: Node) -> str:
        """Why a waiting node must give up, or an empty text: the run was stopped, or its deadline has passed."""
        in_exit = node.in_exit_handler()
        if not self.may_run(in_exit):
            return f"Stopped with strategy '{self.strategy}'"
        late = self.deadline is not None and self.now >= self.deadline and not in_exit
        return STEP_TOO_LATE if late else ""

    def no_more_retries(self) -> str:
        """Why nothing is retried any more, or an empty text."""
        if self.strategy is not None:
            return f"Stopped with strategy '{self.strategy}'"
        if self.deadline is not None and self.now >= self.deadline:
            at = rfc3339(self.deadline).replace("T", " ").replace("Z", " +0000 UTC")
            return f"retry exceeded workflow deadline {at}"
        return ""


def _put(items: list[Json], item: Json) -> None:
    for position, one in enumerate(items):
        if one["name"] == item["name"]:
            items[position] = item
            return
    items.append(item)
