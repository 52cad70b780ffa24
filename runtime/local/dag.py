"""A graph that is executed: which tasks run, and how it ends.

Source: workflow/controller/dag.go of Argo 4.1.
"""

from __future__ import annotations

import heapq
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.runtime.expressions.evaluate import evaluate
from flowdsl.runtime.expressions.values import ExpressionError
from flowdsl.runtime.local.frame import Frame, each_round, loops, rounds
from flowdsl.runtime.local.hooks import Hooks, Names
from flowdsl.runtime.local.node import (
    ERROR,
    FAILED,
    OMITTED,
    RUNNING,
    SKIPPED,
    SUCCEEDED,
    Json,
    Node,
    Type,
    ends,
)
from flowdsl.runtime.local.run import FULL
from flowdsl.runtime.local.scope import Record, Results, Scope
from flowdsl.runtime.local.shapes import part
from flowdsl.runtime.local.tags import ArgoError, Missing
from flowdsl.runtime.local.tasks import Task, depend
from flowdsl.runtime.local.templates import supplied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flowdsl.runtime.local.run import Leaf, Run
    from flowdsl.runtime.local.templates import Base


class Dag(Frame):
    """A template of kind dag."""

    def __init__(self, run: Run, execution: Leaf, node: Node, template: Json, base: Base) -> None:
        super().__init__(run, execution, node, template, base)
        tasks = zip(template["dag"]["tasks"], self.origin.raw["dag"]["tasks"], strict=True)
        self.tasks = {one["name"]: Task(one, raw) for one, raw in tasks}
        self.by_bit = list(self.tasks.values())
        for position, task in enumerate(self.by_bit):
            task.bit = 1 << position
        depend(self.tasks)
        followed = {name for task in self.tasks.values() for name in task.before}
        target = str(template["dag"].get("target") or "")
        self.targets = target.split() or sorted(self.tasks.keys() - followed)
        self.last = frozenset(self.targets)
        self.wanted = self._wanted()
        self.unsettled = len(self.wanted)
        self.going_on = 0
        """How many tasks are ready or have begun, and have not settled; not counted is what waits for ever."""
        self.ready: list[tuple[int, str]] = []
        """The tasks that are ready and have not begun, a heap by their ranks."""
        self.awaited: Node | None = None
        """What goes on below it, though all of its tasks have ended."""
        self.adrift = False
        """Whether a task follows none that left an end to follow: the graph does not see it, and may end without it."""
        self.stopping = False
        self.fails_fast = template["dag"].get("failFast") is not False

    # --- what depends on what ----------------------------------------------------------------------

    def _wanted(self) -> list[Task]:
        """The tasks that the targets need, those before others first. Raises ArgoError."""
        order: list[Task] = []
        seen: set[str] = set()
        for target in self.targets:
            waiting: list[tuple[str, bool]] = [(target, False)]
            while waiting:
                name, ready = waiting.pop()
                if name not in self.tasks:
                    raise ArgoError(f"target {name} does not exist")
                task = self.tasks[name]
                if ready:
                    order.append(task)
                elif name not in seen:
                    seen.add(name)
                    waiting.append((name, True))
                    waiting.extend((one, False) for one in reversed(task.before))
        for rank, task in enumerate(order):
            task.rank = rank
            task.missing = len(task.before)
            for name in task.before:
                self.tasks[name].after.append(task)
                task.ancestors |= self.tasks[name].ancestors | self.tasks[name].bit
        return order

    # --- running -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin with the tasks that wait for none."""
        self.machine.soon(*self._ready(self.wanted))

    def _ready(self, tasks: list[Task]) -> list[Callable[[], None]]:
        """What begins those of some tasks that wait for none: the graph goes on with them until they have settled."""
        ready = [task for task in tasks if not task.missing]
        self.going_on += len(ready)
        for task in ready:
            heapq.heappush(self.ready, (task.rank, task.name))
        return [self._begin_first] * len(ready)

    def _begin_first(self) -> None:
        """Begin the first of those that are ready, in the order in which Argo comes to them."""
        _, name = heapq.heappop(self.ready)
        self._begin(self.tasks[name])

    def _begin(self, task: Task) -> None:
        """All that a task waits for has settled (executeDAGTask)."""
        if self.over or self.frozen():
            return
        for hook in self._hooks_before(task):
            self.machine.when_fulfilled(hook, partial(self._begin, task))
            return
        try:
            execute = self._evaluate(task)
        except ArgoError as error:
            self._skipped(task, ERROR, str(error))
            return
        if not execute:
            self._skipped(task, OMITTED, "omitted: depends condition not met")
            return
        if task.spoilt:
            self._skipped(task, ERROR, task.spoilt)
            return
        try:
            task.holder = self._renewed(task)
            scope = self.scope(task)
            holder = self.resolved(task.holder, scope)
            if loops(task.holder):
                self._loop(task, holder, scope)
                return
            proceed = self.machine.condition(holder.get("when") or "")
        except Missing as error:
            task.stuck = f"{self.node.name}.{task.name}: {error}"
            self.going_on -= 1
            self._maybe_finish()
            return
        except ArgoError as error:
            self._skipped(task, ERROR, str(error))
            return
        if not proceed:
            self._skipped(task, SKIPPED, f"when '{holder['when']}' evaluated false")
            return
        task.open = 1
        self._execute(task, holder)

    def _hooks_before(self, task: Task) -> Iterator[Node]:
        """The hooks that run of those before a task, which may have begun after these had settled."""
        for before in (self.tasks[name] for name in task.before):
            if before.node is not None and (before.holder.get("hooks") or before.holder.get("onExit")):
                yield from (one for one in before.node.children.values() if one.hooked and not one.fulfilled)

    def _renewed(self, task: Task) -> Json:
        return self.renewed(task.holder, task.raw)

    def _evaluate(self, task: Task) -> bool:
        """Whether the results of those before it let a task run (evaluateDependsLogic). Raises ArgoError."""
        nodes = {name: self.tasks[name].node for name in task.before}
        if not task.logic:
            return all(
                node is not None and (node.phase in (SUCCEEDED, SKIPPED) or node.daemoned)
                for node in nodes.values()
            )
        scope: Json = {}
        for name, node in nodes.items():
            if node is None:
                return False
            phases = [child.phase for child in node.children.values()] if node.type == "TaskGroup" else []
            scope[name.replace("-", "_")] = {
                "Succeeded": node.phase == SUCCEEDED,
                "Failed": node.phase == FAILED,
                "Errored": node.phase == ERROR,
                "Skipped": node.phase == SKIPPED,
                "Omitted": node.phase == OMITTED,
                "Daemoned": node.daemoned,
                "AnySucceeded": SUCCEEDED in phases,
                "AllFailed": bool(phases) and all(phase == FAILED for phase in phases),
            }
        logic = task.logic.replace("-", "_")
        try:
            return evaluate(logic, scope) is True
        except ExpressionError as error:
            raise ArgoError(f"unable to evaluate expression '{logic}': {error}") from None

    def _skipped(self, task: Task, phase: str, message: str) -> None:
        """A task that does not run."""
        node = self._node(task.name, "Skipped", phase, task.holder)
        node.message = message
        node.told = self.machine.passes
        task.node = node
        self._connect(task, node)
        if task.spoilt and task.name in self.last:
            self.refuse(task.spoilt)
            return
        if task.name not in self.last:
            self._settled(task, node)
        self._watch(task, node)

    def _node(self, name: str, type: Type, phase: str, holder: Json) -> Node:
        node = self.machine.new_node(f"{self.node.name}.{name}", type, phase, self.node, holder, self.base)
        node.plain = True
        return node

    def _connect(self, task: Task, node: Node) -> None:
        """A node follows the ends of what its task waited for, or begins the graph."""
        if not task.before:
            self.node.adopt(node)
            return
        befores = [self.tasks[name].node for name in task.before]
        found = [end for before in befores if before is not None for end in ends(before)]
        self.adrift = self.adrift or not found
        for end in found:
            end.adopt(node)

    def _loop(self, task: Task, holder: Json, scope: Scope) -> None:
        """Run a task for each item. Raises ArgoError."""
        when = holder.get("when") or ""
        try:
            proceed: bool | None = self.machine.condition(when)
        except ArgoError:
            proceed = None  # it has an item in it
        try:
            found = rounds(holder) if loops(holder) else []
        except ArgoError:
            if proceed is not False:
                raise
            found = []
        made = each_round(holder, found, scope, proceed is not False)
        if not made and loops(holder):
            self._skipped(task, SKIPPED, "Skipped, empty params")
            return
        group = self._node(task.name, "TaskGroup", RUNNING, task.holder)
        task.node = group
        self._connect(task, group)
        self._watch(task, group)
        task.open = len(made) or 1
        if not made:  # the text of a withParam was empty: Argo runs the task itself, as the node of its loop
            self._execute(task, holder)
            return
        self._rounds(task, group, deque(made))

    def _rounds(self, task: Task, group: Node, made: deque[Json]) -> None:
        """Begin the rounds of a loop.

        Argo leaves those behind one that cannot begin to the next pass, and comes no further where that can not begin
        then either. A loop whose rounds have all ended meanwhile has ended itself.
        """
        if not made or group.fulfilled or self.over or self.frozen():
            return
        if task.refused is not None:
            self.machine.later(partial(self._held_up, task, group, made))
            return
        self.machine.soon(partial(self._rounds, task, group, made))
        self._round(task, group, made.popleft())

    def _held_up(self, task: Task, group: Node, made: deque[Json]) -> None:
        """The pass ends in which a round could not begin."""
        self._find_out(group, partial(self._held_up, task, group, made))
        if task.refused is not None and not task.refused.refused:
            task.refused = None
            self.machine.hindmost.append(partial(self._rounds, task, group, made))

    def _round(self, task: Task, group: Node, holder: Json) -> None:
        try:
            proceed = self.machine.condition(holder.get("when") or "")
            phase, message = SKIPPED, f"when '{holder.get('when')}' evaluated false"
        except ArgoError as error:
            proceed, phase, message = False, ERROR, str(error)
        if proceed:
            self._execute(task, holder)
            return
        node = self._node(holder["name"], "Skipped", phase, holder)
        node.message = message
        group.adopt(node)
        task.children.append(node)
        self._round_settled(task, node)

    def _execute(self, task: Task, holder: Json) -> None:
        name = f"{self.node.name}.{holder['name']}"

        def connect(node: Node) -> None:
            if task.node is not None:
                task.node.adopt(node)
                task.children.append(node)
            else:
                task.node = node
                self._connect(task, node)
            self._watch(task, node)

        def done(node: Node, error: str | None) -> None:
            if error is not None:
                self.machine.mark(node, ERROR, f"task '{name}' errored: {error}")
                task.refused = node
                if node is task.node:
                    self.machine.hindmost.append(partial(self._look_again, task, node))

        node = task.node if holder["name"] == task.name else None
        self.child("tasks", name, holder, connect, done, task.rank, node)

    def _look_again(self, task: Task, node: Node) -> None:
        """Say only what is wrong with a task that could not begin: Argo looks at it again while the graph goes on."""
        if self.over or not self._looks_at(task, node):
            return
        try:
            holder = self._renewed(task)
            _, template = self.machine.templates.resolve(self.base, holder)
            supplied(template, part(holder, "arguments"), self.machine.config, self.machine.globals)
        except ArgoError as error:
            self.machine.mark(node, ERROR, str(error))

    def _watch(self, task: Task, node: Node) -> None:
        """Follow a node until it and its hooks have ended."""
        settled = self._round_settled if task.node is not node else self._settled

        def holder() -> Json:
            found = self._renewed(task)
            return found if task.node is node else {**found, "hooks": _only_exit(found)}

        if not task.holder.get("onExit") and not (
            task.holder.get("hooks") if task.node is node else _only_exit(task.holder)
        ):
            self.machine.when_fulfilled(node, lambda: settled(task, node))
            return

        def refused(message: str, on_exit: bool) -> None:
            if on_exit:
                return
            if node.fulfilled or node.phase == RUNNING:
                self.machine.mark(node, ERROR, message)
                if (frame := self.machine.frames.get(node.name)) is not None:
                    frame.abandon()  # what it began goes on, but nothing else
                message = hooks.wrong()
            if target and message:
                self._hook_fails(message)

        name = f"tasks.{task.name}"
        target = node is task.node and task.name in self.last
        hooks = Hooks(
            self,
            node,
            holder,
            Names(name, name),
            lambda: self.scope(task),
            lambda found: settled(task, found),
            refused,
            waits=not target,
            rank=task.rank,
            looked=lambda: self._looks_at(task, node),
            again=self._hook_fails if target else None,
            turn=None
            if node is task.node
            else partial(self._exit_of_round, task, len(task.children) - 1, node),
        )
        self.machine.when_changed(node, hooks.changed, now=target)

    def _looks_at(self, task: Task, node: Node) -> bool:
        """Whether something that goes on leads to a node: what it is a round of, or a task behind its own."""
        if node is not task.node:
            return task.node is not None and not task.node.fulfilled
        behind = (one.node for one in task.after)
        return task.name in self.last or any(one is None or not one.fulfilled for one in behind)

    def comes_to(self, node: Node) -> bool:
        """Whether something that goes on leads to the task of a node."""
        tasks = (task for task in self.by_bit if task.node is node or node in task.children)
        return not self.over and (node.hooked or any(self._looks_at(task, node) for task in tasks))

    def _hook_fails(self, message: str) -> None:
        """The graph ends with the error of a hook; what is around it is not told where only a place is missing."""
        if message == FULL:
            self.finish(ERROR, FULL)
        else:
            self.refuse(message)

    def _exit_of_round(self, task: Task, place: int, node: Node, begin: Callable[[], None]) -> None:
        heapq.heappush(task.exits, (place, node.id, begin))
        self.machine.later(partial(self._next_exit, task))

    def _next_exit(self, task: Task) -> None:
        """Begin an exit hook of a loop: a round has its own when none before it runs (executeDAGTask).

        A loop may end while one runs, where Argo finds out how the graph goes on; then no other begins.
        """
        group = task.node
        if self.over or self.frozen() or group is None or group.fulfilled:
            return
        first = next(reversed(task.leaving.values()), len(task.children))
        if task.exits and task.exits[0][0] < first:
            place, identity, begin = heapq.heappop(task.exits)
            task.leaving[identity] = place
            begin()
        if task.open == len(task.exits) + len(task.leaving):
            self._find_out(group, partial(self._next_exit, task))

    def _find_out(self, group: Node, again: Callable[[], None]) -> None:
        """A loop has ended when all of its rounds have, and nothing before it goes on; else ask again later."""
        if self.awaited is None or self.awaited.fulfilled or self.awaited is group:
            self._walked()
        left = self.awaited
        if left is group:
            left = next((child for child in group.children.values() if not child.fulfilled), None)
        if left is not None and not group.fulfilled:
            self.machine.when_fulfilled(left, again)

    def _round_settled(self, task: Task, node: Node) -> None:
        task.open -= 1
        if task.leaving.pop(node.id, None) is not None or task.exits:
            self.machine.later(partial(self._next_exit, task))
        group = task.node
        if task.open or group is None or self.over or self.frozen():
            return
        self._complete(group, task.children)

    def _complete(self, group: Node, children: Iterable[Node]) -> None:
        """All rounds of a loop have ended."""
        failed = [child.phase for child in children if child.failed]
        self.machine.mark(group, failed[-1] if failed else SUCCEEDED)
        for hook in [one for child in children for one in child.children.values() if one.hooked]:
            if not hook.fulfilled and self.machine.needs_passes(hook):  # nobody comes to the rounds any more
                self.machine.later(partial(self.machine.leave, hook))
                self.lost = f"{hook.name}: an exit hook of a round, which is left when the loop has ended"

    def _settled(self, task: Task, node: Node) -> None:
        """A task and its hooks have ended: those that wait for it may go on."""
        if task.settled or self.over or self.frozen():
            return
        task.settled = True
        self.unsettled -= 1
        self.going_on -= 1
        spoilt = task.spoilt or self._spoilt(task, node)
        for follower in task.after:
            follower.missing -= 1
            follower.spoilt = follower.spoilt or spoilt
        for begin in self._ready(task.after):
            self.machine.later(begin)
        self.machine.later(self._maybe_finish)

    def _spoilt(self, task: Task, node: Node) -> str:
        """Why those after a loop cannot read what it handed on, though they may not ask (buildLocalScopeFromTask)."""
        if node.type != "TaskGroup":
            return ""
        try:
            self.machine.templates.named(self.base, task.holder)
            task.record = self._record(task, node)
        except ArgoError as error:
            return str(error)
        return ""

    # --- variables ---------------------------------------------------------------------------------

    def scope(self, task: Task | None) -> Scope:
        """What a task sees: the inputs, what its ancestors handed on, and the workflow's variables."""
        return Scope(
            self.inputs,
            self.machine.shared,
            self.machine.globals,
            prefix="tasks",
            results=self._results(None if task is None else task.ancestors),
        )

    def _results(self, among: int | None) -> Results:
        def names() -> Iterator[str]:
            return iter([one.name for one in self.by_bit if among is None or one.bit & among])

        def record(name: str) -> Record | None:
            task = self.tasks.get(name)
            if task is None or (among is not None and not task.bit & among) or task.node is None:
                return None
            if task.record is None or not task.settled:
                task.record = self._record(task, task.node)
            return task.record

        return Results(names, record)

    def _record(self, task: Task, node: Node, rounds: list[Node] | None = None) -> Record:
        """What a task handed on; a loop those of its rounds, which are found by their names while it is in use."""
        found = self.record(node, lambda: self.declared(task.holder), artifacts=False)
        if node.type == "TaskGroup":
            named = [one for one in node.children.values() if one.name.startswith(f"{node.name}(")]
            found = {**self.aggregate(named if rounds is None else rounds), **found}
        return found

    # --- the end -----------------------------------------------------------------------------------

    def stuck(self) -> list[str]:
        """The tasks that refer to what never comes, and what nobody goes on with."""
        found = [task.stuck for task in self.wanted if task.stuck]
        left = None if self.lost else self.awaited
        if left is not None and not left.fulfilled and not left.lock:
            found.append(f"{left.name}: it is {left.phase}, and what it is part of has failed")
        return [*found, *([self.lost] if self.lost else [])]

    def shut_down(self) -> None:
        """The run is to stop: the graph has failed as soon as no exit hook of a target runs."""
        if not self.on_exit:
            self.stopping = True
            self._maybe_finish()

    def _maybe_finish(self) -> None:
        """Whether the graph has ended, and how (assessDAGPhase)."""
        if self.over or self.fail_fast():
            return
        if self.stopping and not self._exiting():
            self.node.outbound = self._outbound()
            self.finish(FAILED)
            return
        goes_on = self.unsettled and not self.adrift and (not self.fails_fast or self.going_on)
        if self.lost or goes_on:
            return
        phase = self._phase()
        if phase == RUNNING:
            return
        if phase != SUCCEEDED:
            self.node.outbound = self._outbound()
            self.finish(phase)
            return
        try:
            declared = self.declared_outputs()
            for task in self.by_bit:
                if task.node is None:
                    continue
                if task.node.type == "TaskGroup" and "outputs.parameters" not in (task.record or {}):
                    task.record = self._record(task, task.node, list(task.node.children.values()))
                self.machine.remember(task.node.outputs)
            scope = Scope(self.inputs, prefix="tasks", results=self._results(None))
            outputs = self.outputs(declared, scope)
        except ArgoError as error:
            self.refuse(str(error))
            return
        if outputs is not None:
            self.node.outputs = outputs
        self.node.outbound = self._outbound()
        self.finish(SUCCEEDED)

    def _exiting(self) -> bool:
        names = [f"{self.node.name}.{name}.onExit" for name in self.targets]
        return any(name in self.machine.nodes and not self.machine.nodes[name].fulfilled for name in names)

    def _outbound(self) -> list[Node]:
        nodes = [self.tasks[name].node for name in self.targets]
        return [end for node in nodes if node is not None for end in ends(node)]

    def _phase(self) -> str:
        """How the graph ended: as its targets did, those that were omitted as the branches that led to them."""
        phases = self._walked()
        if phases is None:
            return RUNNING
        result = SUCCEEDED
        for name in self.targets:
            phase = phases.get(name, "")
            if not phase:
                result = RUNNING
                if not self.fails_fast:
                    break
            elif phase in (FAILED, ERROR):
                goes_on = part(self.tasks[name].holder, "continueOn")
                if goes_on.get("failed" if phase == FAILED else "error"):
                    continue
                result = phase
                if self.fails_fast:
                    break
        return result

    def _walked(self) -> dict[str, str] | None:
        """The phases of the targets, found along the nodes from the beginning of the graph.

        None while one of those goes on, which may be of a template that has failed: it is waited for.
        """
        nodes = {name: self.tasks[name].node for name in self.targets}
        targets = {node.id: name for name, node in nodes.items() if node is not None}
        found: dict[str, str] = {}
        queue = [(child, SUCCEEDED) for child in self.node.children.values()]
        seen = {(child.id, phase) for child, phase in queue}
        for node, phase in queue:
            children = _begun(node)
            rounds = children if node.type == "TaskGroup" else []
            if rounds and not node.fulfilled and all(child.fulfilled for child in rounds):
                self._complete(node, rounds)
            if not node.fulfilled:
                if self.awaited is not node:
                    self.awaited = node
                    self.machine.when_fulfilled(node, self._maybe_finish)
                return None
            branch = node.phase if node.completed else phase
            name = targets.get(node.id)
            if name is not None and found.get(name) not in (FAILED, ERROR):
                found[name] = branch
            if node.type == "Retry":
                children = [
                    below
                    for child in reversed(children)
                    for below in ([child] if child.hooked else child.children.values())
                ]
            for child in children:
                if (child.id, branch) not in seen:
                    seen.add((child.id, branch))
                    queue.append((child, branch))
        return found


def _begun(node: Node) -> list[Node]:
    """The children of a node without those that Argo never begins: the steps behind one that has an error at once."""
    children = list(node.children.values())
    if node.type != "StepGroup" or node.phase != ERROR:
        return children
    at_once = (one.phase == ERROR and one.finished == node.finished for one in children)
    last = next((place for place, wrong in enumerate(at_once) if wrong), len(children))
    return [one for place, one in enumerate(children) if place <= last or one.started != node.finished]


def _only_exit(holder: Json) -> Json:
    """Of the hooks of a task with a loop, those that each of its rounds has."""
    found = part(holder, "hooks").get("exit")
    return {} if found is None else {"exit": found}
