"""The state of a run: its nodes, its variables, and the services that executions and frames use.

It does not know the bodies of templates: these request what they need, and report when they have ended.
Source: the methods of wfOperationCtx in workflow/controller of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.agenda import Agenda
from flowdsl.runtime.local.controller.cache import Cache, Entry
from flowdsl.runtime.local.controller.locks import Locks
from flowdsl.runtime.local.controller.names import any_string, node_id
from flowdsl.runtime.local.controller.node import Json, Node, Type
from flowdsl.runtime.local.controller.parallelism import Parallelism
from flowdsl.runtime.local.controller.protocols import Boundary, Call, Leaf, Retries
from flowdsl.runtime.local.controller.scope import Globals, Value, Variables
from flowdsl.runtime.local.controller.templates import Base, Templates
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import SUCCEEDED
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

STEP_TOO_LATE = "Step exceeded its deadline"
TIMEOUT = "timeout"
"""The error that who asked for a template is told when that has waited too long: it is a failure, not an error."""

_SEPARATOR = regex(r"(\[\d+\])?\.")


class Run:
    """The state of a run, and what is done with it."""

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
        """How many changes of `globals` those are."""
        self.shared = Variables()
        """What was handed on by a global name: of the variables of the workflow, outputs of steps see no others."""
        self._unseen: list[tuple[Node, str, Value]] = []
        """Which of those nodes have handed on in this pass, and what they were before, or None."""
        self.templates = Templates(self.name, {}, [])
        self.locks = Locks(str(metadata.get("namespace") or "default"), config)
        self.nodes: dict[str, Node] = {}
        self.by_id: dict[str, Node] = {}
        self.frames: dict[str, Boundary] = {}
        self.begun: list[Boundary] = []
        """Those of them that have begun in this pass."""
        self.interruptions: list[tuple[float, float]] = []
        """When nothing of the run went on, with the seconds that it did not."""
        self.running: dict[str, Leaf] = {}
        self.suspended: dict[str, tuple[Leaf, float | None]] = {}
        self.backing_off: dict[str, tuple[bool, Callable[[], None]]] = {}
        """The retries that wait for their time: whether they are of an exit handler, and what is next."""
        self.leaving: dict[str, Callable[[], None]] = {}
        """The exit hooks that run, by their names, and how to go on without them."""
        self.held: dict[str, Callable[[Node, Callable[[], None]], bool]] = {}
        """Of nodes that Argo may not come to for a while: keeps what is to be done in one until it does, or says no."""
        self.retries: dict[str, Retries] = {}
        """What is tried again, by its node."""
        self.unneeded: dict[str, Callable[[], None]] = {}
        """By the last attempts of daemons that have ended while nothing behind them goes on: begins the next ones."""
        self.act: Callable[[events.Action], None]
        """Who is told what is to be done."""
        self.patched: Callable[[events.StartPod], tuple[str, int | None]] = lambda _: ("", None)
        """Why the patches of a pod cannot be applied, or nothing, and the seconds that they give it."""
        self.execute: Callable[[Call], None]
        """What executes a template."""
        self.failures = 0
        """How often a node has failed."""
        self._calls = 0
        self._watchers: dict[str, list[Callable[[], None]]] = {}
        self._fulfilled: dict[str, list[Callable[[], None]]] = {}

    def begin_pass(self) -> None:
        """Begin a pass."""
        self.agenda.passes += 1
        self.look()

    def look(self) -> None:
        """See what has happened: templates that are executed already are read with the variables as they are now."""
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
        """Do what is to be done until nothing is left."""
        self.end_pass()
        while self.agenda.more():
            self.begin_pass()
            self.agenda.go_on()
            self.end_pass()

    def end_pass(self) -> None:
        """Do what is to be done in this pass, and give free places to those that wait for one."""
        self._work()
        if self.strategy is not None:
            self._end_frames()
        self.begun.clear()

    def _work(self) -> None:
        self.agenda.work()
        while self.parallelism.hand_out():
            self.agenda.work()

    def _end_frames(self) -> None:
        """The run is to stop: what goes on in it ends, what is inside first, with what comes of that."""
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
        """Try again at a time, or earlier where nothing is to be tried any more."""

        def begin() -> None:
            if self.backing_off.pop(node.id, None) is not None:
                again()

        self.backing_off[node.id] = (on_exit, begin)
        self.agenda.at(until, begin, lambda: node.id in self.backing_off)

    def call(
        self,
        name: str,
        holder: Json,
        arguments: Json,
        *,
        base: Base,
        frame: Boundary | None,
        on_exit: bool = False,
        hooked: bool = False,
        kind: str = "",
        rank: int = 0,
        created: Callable[[Node], None] | None = None,
        failed: Callable[[Node, str], None] | None = None,
        node: Node | None = None,
        now: Callable[[], Json] | None = None,
        kept: Callable[[Callable[[], None]], bool] | None = None,
    ) -> None:
        """Execute the template that a task, a step, a hook or the workflow names."""
        depth = 1 if frame is None else frame.depth + 1
        above = () if frame is None else frame.execution.call.turn
        self._calls += 1
        none: Callable[..., None] = _nothing
        made = Call(
            name,
            holder,
            arguments,
            base,
            frame,
            depth,
            on_exit,
            hooked,
            kind,
            rank,
            (*above, rank, not hooked, self._calls),
            created or none,
            failed or none,
            node,
            now,
            kept,
        )
        self.execute(made)

    def begin_frame(self, frame: Boundary) -> None:
        """Begin with the children of a template of kind steps or dag."""
        self.frames[frame.node.name] = frame
        self.begun.append(frame)
        if frame.execution.call.frame is not None:
            frame.execution.call.frame.inside[frame.node.name] = frame
        frame.start()

    def needs_passes(self, node: Node) -> bool:
        """Whether something goes on only where Argo comes to it, unlike a pod, or what somebody resumes."""
        if node.type == "Suspend":
            return self.suspended.get(node.id, (None, None))[1] is not None
        return node.type in ("Steps", "DAG", "Retry")

    def leave(self, node: Node) -> None:
        """Go on no more with what is executed as a node; the pods that it has begun go on."""
        if (frame := self.frames.get(node.name)) is not None:
            frame.abandon()
        self.retries.pop(node.id, None)
        self.suspended.pop(node.id, None)

    def end_frame(self, frame: Boundary) -> None:
        """A template of kind steps or dag is executed no longer: what is suspended in it, only somebody lets go on."""
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
        """A new node; its display name is what its name adds to that of its boundary (initializeNode)."""
        identity = node_id(self.name, name)
        while identity in self.by_id:  # in Argo the second of two names with one hash never runs
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
        """Change the phase of a node, perhaps to that of a daemon that is ready, and tell those that wait for it.

        `runs`: whether its pod does from now on, where that changes. Behind what ends in the pass that begins it, Argo
        goes on before it comes to anything else.
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
        """Tell those that watch a node."""
        self.within(node.boundary, *self._watchers.get(node.id, ()), soon=soon)

    def within(self, node: Node | None, *actions: Callable[[], None], soon: bool = False) -> None:
        """Do something in what is executed as a node: now, or when Argo comes to it again."""
        for action in actions:
            at = node
            while at is not None and not (at.id in self.held and self.held[at.id](node or at, action)):
                at = at.boundary
            if at is None:
                (self.agenda.soon if soon else self.agenda.later)(action)

    def when_fulfilled(self, node: Node, action: Callable[[], None]) -> None:
        """Do something when a node has ended, or is a daemon that runs."""
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
        """Do something when a node's phase changes, and for the first time when `first` says, or as this pass ends."""
        self._watchers.setdefault(node.id, []).append(action)
        (first or self.agenda.at_last)(action)

    def lock_taken(self, node: Node) -> None:
        """A node waits for a lock no longer."""
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
        """Take the locks that a template asks for; see Locks.acquire. Raises ArgoError."""
        found = self.locks.acquire(holder, wanted, again, stop)
        self.agenda.later(*self.locks.woken())
        return found

    def decline(self, wanted: Json, holder: str = "", stop: Callable[[str], None] | None = None) -> None:
        """Let others have the locks that somebody who waited for them does not want any more, or not yet."""
        self.locks.decline(wanted, holder, stop)
        self.agenda.later(*self.locks.woken())

    def release(self, holder: str) -> None:
        """Give back the locks of an execution."""
        self.agenda.later(*self.locks.release(holder))

    def remember(self, outputs: Json | None, maker: Node | None = None) -> None:
        """Note the outputs that have a global name (addOutputsToGlobalScope), those of a `maker` that ends in a pass.

        Argo does so when a pod has ended, for a list of steps when it ends, and for the tasks of a graph when the graph
        has ended well: no output of a graph that no other graph has called is ever noted.
        """
        for one in several(outputs, "parameters"):
            name = one.get("globalName")
            if name and one.get("value") is not None:
                text = any_string(one["value"])
                self.globals[f"workflow.outputs.parameters.{name}"] = text
                self._hand_on(f"workflow.outputs.parameters.{name}", text, maker)
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
        """What was handed on by a global name when Argo came to a list of steps in this pass, before what is in it."""
        unseen = [(name, before) for maker, name, before in self._unseen if maker.is_within(steps)]
        if not unseen:
            return self.shared
        found = Variables(self.shared)
        for name, before in reversed(unseen):
            found[name] = before
        return Variables({name: value for name, value in found.items() if value is not None})

    def keep(self, node: Node) -> None:
        """Add the outputs of a node to the cache that it looked into."""
        memo: Json = node.memo or {}
        self.cache.keep(memo["cacheName"], memo["key"], Entry(node.id, node.outputs or {}, self.now))

    def goes_on(self) -> bool:
        """Whether an error does not end the run at once: pods are at work, or daemons."""
        return self.awaits_pods() or any(node.daemoned for node in self.nodes.values())

    def awaits_pods(self) -> bool:
        """Whether a pod has begun and not ended, for which the run waits before it ends."""
        return any(self.by_id[name].runs for name in self.running)

    def end_daemon(self, node: Node) -> None:
        """End a daemon that is needed no longer (killDaemonedChildren)."""
        if node.daemoned:
            node.daemoned = False
            self.mark(node, SUCCEEDED)
            if node.id in self.running:
                self.act(events.StopPod(node.id))

    def after(self, time: float, seconds: float) -> float:
        """The time at which the run went on for so many seconds since another one."""
        return time + seconds + sum(lost for at, lost in self.interruptions if at >= time)

    def may_run(self, on_exit: bool) -> bool:
        """Whether a pod may begin after the run was told to stop (ShouldExecute)."""
        return self.strategy is None or (self.strategy == "Stop" and on_exit)

    def refusal(self, node: Node) -> str:
        """Why a node that waits is not waited for, or nothing: the run was told to stop, or it is too late."""
        in_exit = node.in_exit_handler()
        if not self.may_run(in_exit):
            return f"Stopped with strategy '{self.strategy}'"
        late = self.deadline is not None and self.now >= self.deadline and not in_exit
        return STEP_TOO_LATE if late else ""

    def no_more_retries(self) -> str:
        """Why nothing is tried again, or nothing."""
        if self.strategy is not None:
            return f"Stopped with strategy '{self.strategy}'"
        if self.deadline is not None and self.now >= self.deadline:
            at = rfc3339(self.deadline).replace("T", " ").replace("Z", " +0000 UTC")
            return f"retry exceeded workflow deadline {at}"
        return ""


def _nothing(*_: object) -> None:
    """What those call that ask for nothing."""


def _put(items: list[Json], item: Json) -> None:
    for position, one in enumerate(items):
        if one["name"] == item["name"]:
            items[position] = item
            return
    items.append(item)
