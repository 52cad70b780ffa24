"""A run while it is executed: its nodes, its variables, and the services that executions and frames ask for.

Nothing here knows templates' bodies: those ask for what they need, and say when they have ended.
Source: the methods of wfOperationCtx in workflow/controller of Argo 4.1.
"""

from __future__ import annotations

import heapq
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from flowdsl.grammar.duration import duration
from flowdsl.grammar.regex import regex
from flowdsl.runtime.expressions.conditions import condition
from flowdsl.runtime.expressions.values import ExpressionError
from flowdsl.runtime.local import events
from flowdsl.runtime.local.cache import Cache, Entry
from flowdsl.runtime.local.limits import Locks
from flowdsl.runtime.local.names import any_string, node_id, rfc3339
from flowdsl.runtime.local.node import ERROR, FAILED, PENDING, RUNNING, SUCCEEDED, Json, Node, Type
from flowdsl.runtime.local.scope import Variables
from flowdsl.runtime.local.shapes import part, several
from flowdsl.runtime.local.tags import ArgoError
from flowdsl.runtime.local.templates import Base, Origin, Templates

if TYPE_CHECKING:
    from collections.abc import Callable

TOO_LATE = "Pod was active on the node longer than the specified deadline"
STEP_TOO_LATE = "Step exceeded its deadline"
FULL = "Max parallelism reached"

_SEPARATOR = regex(r"(\[\d+\])?\.")
_COUNTED = frozenset(("Pod", "Steps", "DAG"))
_ACTIVE = frozenset((PENDING, RUNNING))


class Boundary(Protocol):
    """A template of kind steps or dag that is executed, as those see it that run in it."""

    execution: Leaf
    node: Node
    template: Json
    inside: dict[str, Boundary]
    depth: int
    over: bool
    on_exit: bool
    active: int
    active_pods: int
    unsuccessful: int
    failures: int
    grown: int
    postponed: list[Callable[[], None]]
    waiting: list[Turn]
    queued: deque[int]
    daemons: list[Node]
    lost: str

    def abandon(self) -> None:
        """Begin nothing more, here and within."""

    def start(self) -> None:
        """Begin with what waits for nothing."""

    def blocked(self) -> bool:
        """Whether no child may be started now."""
        ...

    def gives_up(self) -> bool:
        """Whether `failFast` of the template lets nothing more begin."""
        ...

    def turns_away(self, again: Callable[[], None]) -> bool:
        """Whether the exit hook of a child does not wait for a place where there is none; it may be asked again."""
        ...

    def fail_fast(self, *, begins: bool = False) -> bool:
        """End where `failFast` of the template asks for it, also as a child `begins`, and say whether it has ended."""
        ...

    def comes_to(self, node: Node) -> bool:
        """Whether it goes on, and looks at a node in it that has ended."""
        ...

    def frozen(self) -> bool:
        """Whether nothing goes on in it but its pods, for `failFast`."""
        ...

    def finish(self, phase: str, message: str | None = None) -> None:
        """End with a phase."""

    def timed_out(self, node: Node, message: str) -> None:
        """A child has waited too long; it has failed."""

    def stuck(self) -> list[str]:
        """What waits for something that never comes."""
        ...

    def shut_down(self) -> None:
        """The run is to stop."""


class Turn(NamedTuple):
    """What waits for a free place in a template: where its task stands among the others, and since when."""

    rank: int
    made: int
    action: Callable[[], None]


class Call(NamedTuple):
    """What asks for a template. `done` gets the node, and an error of Argo's that was not the step's."""

    name: str
    holder: Json
    arguments: Json
    base: Base
    frame: Boundary | None
    depth: int
    on_exit: bool
    hooked: bool
    kind: str
    rank: int
    created: Callable[[Node], None]
    done: Callable[[Node, str | None], None]
    node: Node | None
    """The node that is there already."""


class Timer(NamedTuple):
    """What is to be done at a time."""

    time: float
    made: int
    action: Callable[[], None]
    wanted: Callable[[], bool]


class Leaf(Protocol):
    """The execution of a template, as its pod sees it."""

    call: Call
    template: Json
    origin: Origin
    node: Node | None

    def body_ended(self, node: Node, error: str | None = None) -> None:
        """The body of the template, or of one attempt, has ended."""


class Retries(Protocol):
    """The execution of a template that is tried again."""

    def give_up(self) -> None:
        """Fail: the run is to stop, and nothing of it is at work."""


class Run:
    """The state of a run, and what is done with it."""

    def __init__(self, manifest: Json, config: dict[str, dict[str, str]], cache: Cache) -> None:
        metadata = part(manifest, "metadata")
        self.name = str(metadata.get("name", ""))
        self.config = config
        self.cache = cache
        self.host = "localhost"
        self.now = 0.0
        self.strategy: events.Strategy | None = None
        self.deadline: float | None = None
        self.spec: Json = {}
        self.arguments: Json = {}
        self.volumes: list[Json] = []
        self.outputs: Json = {}
        self.globals = Variables()
        self.settled = Variables()
        """`globals` as they were when this pass began."""
        self.settled_at = 0
        """How many changes of `globals` those are."""
        self.shared = Variables()
        """What was handed on by a global name: of the variables of the workflow, outputs of steps see no others."""
        self.templates = Templates(self.name, {}, [])
        self.locks = Locks(str(metadata.get("namespace") or "default"), config)
        self.nodes: dict[str, Node] = {}
        self.by_id: dict[str, Node] = {}
        self.frames: dict[str, Boundary] = {}
        self.waiting: deque[tuple[Boundary | None, Callable[[], None]]] = deque()
        self.running: dict[str, Leaf] = {}
        self.suspended: dict[str, tuple[Leaf, float | None]] = {}
        self.timers: list[Timer] = []
        self.backing_off: dict[str, tuple[bool, Callable[[], None]]] = {}
        """The retries that wait for their time: whether they are of an exit handler, and what is next."""
        self.retries: dict[str, Retries] = {}
        """What is tried again, by its node."""
        self.actions: list[events.Action] = []
        self.queue: deque[Callable[[], object]] = deque()
        self.hindmost: deque[Callable[[], object]] = deque()
        self.asked: list[Callable[[], None]] = []
        """Asks the hooks of graphs that run for a free place, where the last one is taken."""
        self.execute: Callable[[Call], None]
        """What executes a template."""
        self.failures = 0
        """How often a node has failed."""
        self.passes = 0
        """How often Argo would have looked at the run."""
        self.full = False
        """Whether this pass began without a free place: then Argo looks at nothing."""
        self.postponed: list[Callable[[], None]] = []
        """What looks at it when there is one."""
        self.limit = 0
        """How many pods may be active, or 0."""
        self._active_pods = 0
        self._made = 0
        self._watchers: dict[str, list[Callable[[], None]]] = {}
        self._fulfilled: dict[str, list[Callable[[], None]]] = {}
        self._freed: dict[str, Boundary] = {}

    def settle(self) -> None:
        """Begin a pass: templates that are executed already are read with the variables as they are now."""
        for name in self.globals.changed:
            self.settled[name] = self.globals[name]
        self.globals.changed.clear()
        self.settled_at = self.globals.changes
        self.passes += 1
        self.full = self.saturated()
        if not self.full:
            self.queue.extend(self.postponed)
            self.postponed.clear()

    def later(self, action: Callable[[], None]) -> None:
        """Do something after what is being done."""
        self.queue.append(action)

    def soon(self, *actions: Callable[[], object]) -> None:
        """Do something before all else that is to be done: what begins in a part begins before the next part."""
        self.queue.extendleft(reversed(actions))

    def wait_for_place(self, frame: Boundary | None, rank: int, action: Callable[[], None]) -> None:
        """Do something when the parallelism of the workflow lets another pod begin."""
        if frame is not None:
            frame.queued.append(rank)
        self.waiting.append((frame, action))

    def wait_within(self, frame: Boundary, rank: int, action: Callable[[], None]) -> None:
        """Do something when a template lets another of its children begin."""
        self._made += 1
        heapq.heappush(frame.waiting, Turn(rank, self._made, action))

    def after_those_within(self, frame: Boundary, rank: int, action: Callable[[], None]) -> None:
        """Do something when those before it have begun that may and wait for a free place; now, if none do."""
        if (frame.queued and frame.queued[0] < rank) or (frame.waiting and frame.waiting[0].rank < rank):
            self.hindmost.append(action)
        else:
            action()

    def at(self, time: float, action: Callable[[], None], wanted: Callable[[], bool] | None = None) -> None:
        """Do something at a time, or later. Once `wanted` says no, nobody waits for that time any more."""
        self._made += 1
        heapq.heappush(self.timers, Timer(time, self._made, action, wanted or _always))

    def back_off(self, node: Node, on_exit: bool, until: float, again: Callable[[], None]) -> None:
        """Try again at a time, or earlier where `hurry` finds that nothing is to be tried any more."""

        def begin() -> None:
            if self.backing_off.pop(node.id, None) is not None:
                again()

        self.backing_off[node.id] = (on_exit, begin)
        self.at(until, begin, lambda: node.id in self.backing_off)

    def hurry(self, wanted: Callable[[bool], bool]) -> None:
        """Judge retries now that wait for their time, of what is an exit handler or is not."""
        for on_exit, begin in list(self.backing_off.values()):
            if wanted(on_exit):
                begin()

    def next_timer(self) -> float | None:
        """The time of the next timer that is still wanted."""
        while self.timers and not self.timers[0].wanted():
            heapq.heappop(self.timers)
        return self.timers[0].time if self.timers else None

    def drain(self) -> None:
        """Do what is to be done until nothing is left, and give free places to those that wait for one."""
        while True:
            while self.queue:
                self.queue.popleft()()
            if self.waiting and not self.saturated():
                within, action = self.waiting.popleft()
                if within is not None:
                    within.queued.popleft()
                self.queue.append(action)
            elif self._freed:
                _, frame = self._freed.popitem()
                if frame.waiting and not frame.fail_fast(begins=True) and not frame.blocked():
                    self._freed[frame.node.name] = frame
                    self.queue.append(heapq.heappop(frame.waiting).action)
            elif self.hindmost:
                self.settle()
                self.queue.append(self.hindmost.popleft())
            else:
                return

    def ask_again(self) -> None:
        """Ask hooks that run for a free place, where there is none any more."""
        asked, self.asked = self.asked, []
        for one in asked:
            one()

    def condition(self, text: str) -> bool:
        """Whether a `when` whose tags are replaced holds. Raises ArgoError."""
        if not text or text in ("true", "false"):
            return text != "false"
        try:
            return condition(text)
        except ExpressionError as error:
            raise ArgoError(str(error)) from None

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
        done: Callable[[Node, str | None], None] | None = None,
        node: Node | None = None,
    ) -> None:
        """Execute the template that a task, a step, a hook or the workflow names."""
        depth = 1 if frame is None else frame.depth + 1
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
            created or none,
            done or none,
            node,
        )
        self.execute(made)

    def begin_frame(self, frame: Boundary) -> None:
        """Begin with the children of a template of kind steps or dag."""
        self.frames[frame.node.name] = frame
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
        """A template of kind steps or dag is executed no longer."""
        self.frames.pop(frame.node.name, None)
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

        `runs`: whether its pod does from now on, where that changes.
        """
        before = node.phase
        was = node.fulfilled
        node.daemoned = node.daemoned or daemon
        node.runs = node.runs if runs is None else runs
        node.mark(self.now, phase, message)
        self._count(node, before, phase, "" if node.lock else before, phase)
        self.failures += node.failed
        self.changed(node)
        if node.fulfilled and not was:
            self.queue.extend(self._fulfilled.pop(node.id, ()))

    def changed(self, node: Node) -> None:
        """Tell those that watch a node."""
        self.queue.extend(self._watchers.get(node.id, ()))

    def when_fulfilled(self, node: Node, action: Callable[[], None]) -> None:
        """Do something when a node has ended, or is a daemon that runs."""
        if node.fulfilled:
            self.queue.append(action)
        else:
            self._fulfilled.setdefault(node.id, []).append(action)

    def when_changed(self, node: Node, action: Callable[[], None], *, now: bool = True) -> None:
        """Do something now, or when the next pass begins, and each time that the phase of a node changes."""
        self._watchers.setdefault(node.id, []).append(action)
        (self.queue if now else self.hindmost).append(action)

    def lock_taken(self, node: Node) -> None:
        """A node waits for a lock no longer."""
        if node.lock:
            node.lock = ""
            node.message = ""
            self._count(node, node.phase, node.phase, "", node.phase)

    def _count(self, node: Node, before: str, after: str, pod_before: str, pod_after: str) -> None:
        """Keep the numbers that limits and failFast look at (node_counters.go).

        A node that waits for a lock is active, but its pod is not.
        """
        if node.type not in _COUNTED:
            return
        change = (after in _ACTIVE) - (before in _ACTIVE)
        pods = (pod_after in _ACTIVE) - (pod_before in _ACTIVE) if node.type == "Pod" else 0
        self._active_pods += pods
        frame = None if node.boundary is None else self.frames.get(node.boundary.name)
        if frame is None:
            return
        frame.active += change
        frame.active_pods += pods
        if pods > 0:
            frame.grown = self.passes
        elif pods < 0 and frame.postponed:
            postponed, frame.postponed = frame.postponed, []
            self.queue.extend(postponed)
        failures = (after in (FAILED, ERROR)) - (before in (FAILED, ERROR))
        frame.unsuccessful += failures
        if change < 0:
            self._freed[frame.node.name] = frame
        if node.type == "Pod":
            frame.failures += failures
            if not frame.active_pods and frame.gives_up():
                self.soon(frame.fail_fast)
        elif failures:
            self.hindmost.append(partial(_found_out, frame, failures))

    def saturated(self) -> bool:
        """Whether the parallelism of the workflow lets no pod begin."""
        return bool(self.limit) and self._active_pods >= self.limit

    def acquire(
        self, holder: str, wanted: Json, again: Callable[[], None], stop: Callable[[str], None]
    ) -> tuple[str, str] | None:
        """Take the locks that a template asks for; see Locks.acquire. Raises ArgoError."""
        found = self.locks.acquire(holder, wanted, again, stop)
        self.queue.extend(self.locks.woken())
        return found

    def decline(self, wanted: Json) -> None:
        """Let others have the locks that somebody who waited for them does not want any more."""
        self.locks.decline(wanted)
        self.queue.extend(self.locks.woken())

    def release(self, holder: str) -> None:
        """Give back the locks of an execution."""
        self.queue.extend(self.locks.release(holder))

    def remember(self, outputs: Json | None) -> None:
        """Note the outputs that have a global name (addOutputsToGlobalScope).

        Argo does so when a pod has ended, for a list of steps when it ends, and for the tasks of a graph when the graph
        has ended well: no output of a graph that no other graph has called is ever noted.
        """
        for one in several(outputs, "parameters"):
            name = one.get("globalName")
            if name and one.get("value") is not None:
                text = any_string(one["value"])
                self.globals[f"workflow.outputs.parameters.{name}"] = text
                self.shared[f"workflow.outputs.parameters.{name}"] = text
                _put(self.outputs.setdefault("parameters", []), {"name": name, "value": text})
        for one in several(outputs, "artifacts"):
            name = one.get("globalName")
            if name:
                rest = {key: value for key, value in one.items() if key not in ("globalName", "path")}
                self.shared[f"workflow.outputs.artifacts.{name}"] = {**rest, "name": name}
                _put(self.outputs.setdefault("artifacts", []), {**rest, "name": name})

    def keep(self, node: Node) -> None:
        """Add the outputs of a node to the cache that it looked into."""
        memo: Json = node.memo or {}
        self.cache.keep(memo["cacheName"], memo["key"], Entry(node.id, node.outputs or {}, self.now))

    def start_pod(self, execution: Leaf, node: Node, action: events.StartPod, deadline: float | None) -> None:
        """Ask for a pod."""
        if self.deadline is not None and self.now >= self.deadline and not execution.call.on_exit:
            self.mark(node, FAILED, STEP_TOO_LATE)
            execution.body_ended(node)
            return
        self.running[node.id] = execution
        self.actions.append(action)
        for name, before in _containers(action.template):
            full = f"{node.name}.{name}"
            child = self.new_node(
                full, "Container", PENDING, node, execution.call.holder, execution.call.base
            )
            child.hooked, child.retried = node.hooked, node.retried
            for parent in [self.nodes[f"{node.name}.{one}"] for one in before] or [node]:
                parent.adopt(child)
        if deadline is not None:
            self.at(deadline, lambda: self._stop_pod(node, TOO_LATE), lambda: node.id in self.running)
        pending = action.template.get("pendingTimeout")
        if pending:
            self.at(
                node.started + duration(any_string(pending)),
                lambda: self._still_pending(node),
                lambda: node.phase == PENDING,
            )

    def _still_pending(self, node: Node) -> None:
        if node.phase == PENDING:
            self._stop_pod(node, "timeout")

    def _stop_pod(self, node: Node, message: str) -> None:
        if node.id in self.running and not node.completed:
            self.actions.append(events.StopPod(node.id, message))

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
                self.actions.append(events.StopPod(node.id))

    def suspend(self, execution: Leaf, node: Node, seconds: float | None) -> None:
        """Wait for somebody, or for a time."""
        until = None if seconds is None else node.started + seconds
        self.suspended[node.id] = (execution, until)
        if until is not None:
            self.at(until, lambda: self.resume(node, {}), lambda: node.id in self.suspended)
        if refusal := self.refusal(node):
            self.hindmost.append(lambda: self.end_suspension(node, refusal))

    def end_suspension(self, node: Node, message: str) -> None:
        """Fail a suspended node."""
        execution, _ = self.suspended.pop(node.id)
        self.mark(node, FAILED, message)
        execution.body_ended(node)

    def resume(self, node: Node, given: dict[str, str]) -> None:
        """Let a suspended node go on, with values for its supplied outputs."""
        if node.id not in self.suspended:
            return
        execution, _ = self.suspended.pop(node.id)
        parameters = several(node.outputs, "parameters")
        made: list[Json] = []
        for one in parameters:
            default = one["valueFrom"].get("default")
            value = given.get(one["name"], None if default is None else any_string(default))
            if value is None:
                name = one["name"]
                execution.body_ended(
                    node, f"raw output parameter '{name}' has not been set and does not have a default value"
                )
                return
            made.append({**{key: one[key] for key in one if key != "valueFrom"}, "value": value})
        if made:
            node.outputs = {"parameters": made}
        self.mark(node, SUCCEEDED)
        execution.body_ended(node)

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


def _found_out(frame: Boundary, failures: int) -> None:
    """A pass begins: of children that are graphs or lists, these have failed in the one before."""
    frame.failures += failures
    frame.fail_fast()


def _always() -> bool:
    return True


def _nothing(*_: object) -> None:
    """What those call that ask for nothing."""


def _put(items: list[Json], item: Json) -> None:
    for position, one in enumerate(items):
        if one["name"] == item["name"]:
            items[position] = item
            return
    items.append(item)


def _containers(template: Json) -> list[tuple[str, list[str]]]:
    """The containers of a containerSet with those that each waits for, these first."""
    containers: list[Json] = several(part(template, "containerSet"), "containers")
    names = [str(one["name"]) for one in containers]
    before = {str(one["name"]): [str(name) for name in several(one, "dependencies")] for one in containers}
    done: dict[str, None] = {}
    while len(done) < len(names):
        ready = [name for name in names if name not in done and all(one in done for one in before[name])]
        if not ready:
            raise ArgoError("the containers of a containerSet wait for each other")
        done |= dict.fromkeys(ready)
    return [(name, before[name]) for name in done]
