"""Executes a DAG: which tasks run, and how it ends.

Source: workflow/controller/dag.go of Argo 4.1.
"""

from __future__ import annotations

import heapq
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.runtime.local.controller.arguments import artifact, holds, outputs_of, resolved
from flowdsl.runtime.local.controller.assess import assessed, walked
from flowdsl.runtime.local.controller.expansion import expanded
from flowdsl.runtime.local.controller.frame import Frame
from flowdsl.runtime.local.controller.hooks import EXIT, Hooks, Names, hooked
from flowdsl.runtime.local.controller.items import loops
from flowdsl.runtime.local.controller.loop import Loop, complete
from flowdsl.runtime.local.controller.node import Json, Node, Type, ends, read
from flowdsl.runtime.local.controller.parallelism import FULL
from flowdsl.runtime.local.controller.protocols import Call
from flowdsl.runtime.local.controller.run import TIMEOUT
from flowdsl.runtime.local.controller.scope import Record, Results, Scope
from flowdsl.runtime.local.controller.tags import ArgoError, Missing
from flowdsl.runtime.local.controller.tasks import Task, depend, may_run, wanted
from flowdsl.runtime.local.controller.templates import supplied
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import ERROR, FAILED, OMITTED, RUNNING, SKIPPED, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.runtime.local.controller.protocols import Leaf
    from flowdsl.runtime.local.controller.run import Run
    from flowdsl.runtime.local.controller.templates import Base


class Dag(Frame):
    """The execution of a template of type dag."""

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
        self.wanted = wanted(self.tasks, self.targets)
        self.going_on = 0
        """How many tasks are ready or have started, and have not settled, except those that wait forever."""
        self.ready: list[tuple[int, str]] = []
        """The ready tasks that have not started, a heap by rank."""
        self.awaited: Node | None = None
        """The unfinished node below it, although all of its tasks have ended."""
        self.adrift = False
        """Whether a task has no end of a dependency to follow: the graph cannot reach it, and may end without it."""
        self.fails_fast = template["dag"].get("failFast") is not False

    # --- running -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the tasks without dependencies."""
        self.run.agenda.soon(*self._ready(self.wanted))

    def goes_on(self) -> bool:
        """Whether tasks may start and end."""
        return not self.over and not self.frozen()

    def _ready(self, tasks: list[Task]) -> list[Callable[[], None]]:
        """Count those tasks that have no open dependencies as going on; return the actions that start them."""
        ready = [task for task in tasks if not task.missing]
        self.going_on += len(ready)
        for task in ready:
            heapq.heappush(self.ready, (task.rank, task.name))
        return [self._begin_first] * len(ready)

    def _begin_first(self) -> None:
        """Start the first of the ready tasks, in the order in which Argo visits them. Raises Panic."""
        task = self.tasks[self.ready[0][1]]
        for before in (self.tasks[name].node for name in task.before):
            if before is not None and before.announced:
                ends(read(before))
        heapq.heappop(self.ready)
        self._begin(task)

    def _begin(self, task: Task) -> None:
        """Start a task: all of its dependencies have settled (executeDAGTask)."""
        if not self.goes_on():
            return
        for hook in self._hooks_before(task):
            self.run.when_fulfilled(hook, partial(self._begin, task))
            return
        try:
            execute = may_run(task, self.tasks)
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
            task.holder = self.task_now(task)
            scope = self.scope(task)
            holder = resolved(task.holder, scope, artifact)
            if loops(task.holder):
                self._loop(task, holder, scope)
                return
            proceed = holds(holder.get("when") or "")
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
        self._run(task, holder)

    def _hooks_before(self, task: Task) -> Iterator[Node]:
        """The running hooks of a task's dependencies, which may have started after these had settled."""
        for before in (self.tasks[name] for name in task.before):
            yield from self._running_hooks(before)

    def _running_hooks(self, task: Task) -> list[Node]:
        """The running hooks of a task, which are among its children, as whatever follows it."""
        if task.node is None or task.hooks is None or not task.hooks.open:
            return []
        return [one for one in task.node.children.values() if one.hooked and not one.fulfilled]

    def _behind_hooks(self, task: Task, begin: Callable[[], None]) -> bool:
        """Whether a task that waits for a free place also waits for a hook that got one before it."""
        hook = next(self._hooks_before(task), None)
        if hook is not None:
            self.run.when_fulfilled(hook, begin)
        return hook is not None

    def task_now(self, task: Task) -> Json:
        """A task with the current variables of the workflow. Raises ArgoError."""
        return self.renewed(task.holder, task.raw)

    def _skipped(self, task: Task, phase: str, message: str) -> None:
        """Create the node of a task that does not run."""
        node = self.new_node(task.name, "Skipped", phase, task.holder)
        node.message = message
        node.told = self.run.agenda.passes
        task.node = node
        self._connect(task, node)
        if task.spoilt and task.name in self.last:
            self.refuse(task.spoilt)
            return
        if task.name not in self.last:
            self._settled(task, node)
        self.watch(task, node)

    def new_node(self, name: str, type: Type, phase: str, holder: Json) -> Node:
        """Create a node in the graph for something that Argo itself adds."""
        node = self.run.new_node(f"{self.node.name}.{name}", type, phase, self.node, holder, self.base)
        node.plain = True
        return node

    def _connect(self, task: Task, node: Node) -> None:
        """Make a node a child of the ends of its task's dependencies, or of the DAG itself."""
        if not task.before:
            self.node.adopt(node)
            return
        found = self._ends_before(task)
        self.adrift = self.adrift or not found
        for end in found:
            end.adopt(node)
            if end.id in self.run.unneeded:
                self.run.agenda.in_next_pass(self.run.unneeded.pop(end.id))

    def _ends_before(self, task: Task) -> list[Node]:
        """The last nodes of a task's dependencies."""
        befores = [self.tasks[name].node for name in task.before]
        return [end for before in befores if before is not None for end in ends(before)]

    def _loop(self, task: Task, holder: Json, scope: Scope) -> None:
        """Run a task for each item. Raises ArgoError."""
        made = expanded(holder, scope, task=True) if loops(holder) else []
        if not made and loops(holder):
            self._skipped(task, SKIPPED, "Skipped, empty params")
            return
        group = self.new_node(task.name, "TaskGroup", RUNNING, task.holder)
        task.node = group
        self._connect(task, group)
        self.watch(task, group)
        if made:
            task.loop = Loop(self, task, group, deque(made))
            task.loop.begin()
        else:  # the text of a withParam was empty: Argo runs the task itself, as the node of its loop
            self._run(task, holder)

    def _run(self, task: Task, holder: Json) -> None:
        """Run a task without a loop.

        Argo makes it a child of the ends of its dependencies before it has a place; for those that are containers
        of a containerSet, Argo looks for their children when it visits the task again.
        """
        refuses = (
            self.written.get("parallelism") or self.run.parallelism.limit or self.written.get("failFast")
        )
        containers = [end for end in self._ends_before(task) if end.type == "Container"] if refuses else []
        for end in containers:
            end.announced = True

        def created(node: Node) -> None:
            task.node = node
            for end in containers:
                end.announced = False
            self._connect(task, node)
            self.watch(task, node)

        def refused(node: Node) -> None:
            self.run.agenda.in_next_pass(partial(self._look_again, task, node))

        self.execute(task, holder, created, refused, partial(self._behind_hooks, task))
        if containers and task.node is None:
            self.run.agenda.in_next_pass(partial(self._seek, task))

    def _seek(self, task: Task) -> None:
        """Handle Argo's next visit of a task that had no free place."""
        if task.node is not None or not self.goes_on():
            return
        if not self.run.parallelism.postpones(self, partial(self._seek, task)):
            self._ends_before(task)

    def execute(
        self,
        task: Task,
        holder: Json,
        created: Callable[[Node], None],
        refused: Callable[[Node], None],
        kept: Callable[[Callable[[], None]], bool] | None = None,
    ) -> None:
        """Execute the template of a task or of a round of it; `refused` gets the node of one that could not start.

        `kept` keeps the action that starts a round which Argo does not visit yet.
        """
        name = f"{self.node.name}.{holder['name']}"

        def failed(node: Node, error: str) -> None:
            if error != TIMEOUT:
                self.run.mark(node, ERROR, f"task '{name}' errored: {error}")
                refused(node)

        self.run.call(
            Call(
                name,
                holder,
                part(holder, "arguments"),
                self.base,
                self,
                self.on_exit,
                kind="tasks",
                rank=task.rank,
                created=created,
                failed=failed,
                node=task.node if holder["name"] == task.name else None,
                now=self.read_again(task.name, holder, partial(self._now, task)),
                kept=kept,
            )
        )

    def _now(self, task: Task) -> list[Json]:
        """A task, or its rounds, with the current variables of the workflow. Raises ArgoError."""
        scope = self.scope(task)
        found = resolved(self.task_now(task), scope, artifact)
        return expanded(found, scope, task=True) if loops(found) else [found]

    def _look_again(self, task: Task, node: Node) -> None:
        """Only set the message of a task that could not start: Argo visits it again while the graph is running."""
        if self.over or not self.looks_at(task, node):
            return
        try:
            holder = self.task_now(task)
            _, template = self.run.templates.resolve(self.base, holder)
            supplied(template, part(holder, "arguments"), self.run.config, self.run.globals)
        except ArgoError as error:
            self.run.mark(node, ERROR, str(error))

    def watch(self, task: Task, node: Node) -> None:
        """Follow the node of a task or round until it and its hooks have ended."""
        loop = None if node is task.node else task.loop
        befores = [self.tasks[name] for name in task.before] if loop is None else []
        if followed := [one for one in befores if one.hooks is not None]:
            self.run.when_fulfilled(node, partial(self._leave_behind, followed))
        if loop is not None and hooked(task.holder):
            self.run.held[node.id] = partial(loop.postpones, loop.place(node))
        if not task.holder.get("onExit") and not _hooks_of(task.holder, whole=loop is None):
            self.run.when_fulfilled(node, lambda: self.node_settled(task, loop, node))
            return
        hooks = _TaskHooks(self, task, node)
        if loop is None:
            task.hooks = hooks
            self.run.held[node.id] = hooks.postpones
        self.run.when_changed(node, hooks.changed, hooks.first)

    def node_settled(self, task: Task, loop: Loop | None, node: Node) -> None:
        """Handle the end of the node of a task, or of a round of its loop, and of its hooks."""
        if loop is None:
            self._settled(task, node)
        else:
            loop.settled(node)

    def hook_refused(self, hooks: _TaskHooks, message: str) -> None:
        """A hook cannot be evaluated or started: its task is an error, and if that is a target, the graph.

        In the pass in which the node of a target was created, only the graph checks them (executeDAG).
        """
        node, target = hooks.node, hooks.is_target
        new = target and hooks.made == self.run.agenda.passes
        if not new and (node.fulfilled or node.phase == RUNNING):
            self.run.mark(node, ERROR, message)
            if (frame := self.run.frames.get(node.name)) is not None:
                frame.abandon()  # what it has started continues, nothing else
            message = hooks.wrong()
        if target and message:
            self.hook_fails(message)

    def looks_at(self, task: Task, node: Node) -> bool:
        """Whether something unfinished leads to a node: the loop it is a round of, or a task after its own."""
        if node is not task.node:
            return task.node is not None and not task.node.fulfilled
        return self._leads_to(task)

    def _leads_to(self, task: Task) -> bool:
        behind = (one.node for one in task.after)
        return task.name in self.last or any(one is None or not one.fulfilled for one in behind)

    def _leave_behind(self, hooked: list[Task]) -> None:
        """Leave the hooks of tasks to which nothing unfinished leads any more, as Argo does not visit them again."""
        for task in hooked:
            for hook in self._running_hooks(task):
                if not self.over and self.run.needs_passes(hook) and not self._leads_to(task):
                    self.run.leave(hook)
                    self.lost = f"{hook.name}: a hook, which is left when what follows its task has ended"

    def comes_to(self, node: Node) -> bool:
        """Whether something unfinished leads to the task of a node."""
        tasks = (
            task
            for task in self.by_bit
            if task.node is node or (task.loop is not None and node in task.loop.rounds)
        )
        return not self.over and (node.hooked or any(self.looks_at(task, node) for task in tasks))

    def hook_fails(self, message: str) -> None:
        """End the graph with the error of a hook; its parent is not notified if only a free place is missing."""
        if message == FULL:
            self.finish(ERROR, FULL)
        else:
            self.refuse(message)

    def _settled(self, task: Task, node: Node) -> None:
        """Handle the end of a task and its hooks: start the tasks that depend on it."""
        if task.settled or not self.goes_on():
            return
        task.settled = True
        self.going_on -= 1
        spoilt = task.spoilt or self._spoilt(task, node)
        for follower in task.after:
            follower.missing -= 1
            follower.spoilt = follower.spoilt or spoilt
        self.run.agenda.soon(*self._ready(task.after), self._maybe_finish)

    def _spoilt(self, task: Task, node: Node) -> str:
        """Why tasks after a loop cannot read its outputs, even if they do not use them (buildLocalScopeFromTask)."""
        if node.type != "TaskGroup":
            return ""
        try:
            self.run.templates.named(self.base, task.holder)
            task.record = self._record(task, node)
        except ArgoError as error:
            return str(error)
        return ""

    # --- variables ---------------------------------------------------------------------------------

    def scope(self, task: Task | None) -> Scope:
        """The variables of a task: the inputs, the outputs of its ancestors, and the workflow's variables."""
        among = None if task is None else task.ancestors
        results = None if among == 0 else self._results(among)  # without ancestors, not even `tasks` is known
        return Scope(self.inputs, self.run.shared, self.run.globals, prefix="tasks", results=results)

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
        """Record the outputs of a task; of a loop those of its rounds, found by their names while it is in use."""
        found = self.record(node, lambda: self.declared(task.holder), artifacts=False)
        if node.type == "TaskGroup":
            named = [one for one in node.children.values() if one.name.startswith(f"{node.name}(")]
            found = {**self.aggregate(named if rounds is None else rounds), **found}
        return found

    # --- the end -----------------------------------------------------------------------------------

    def stuck(self) -> list[str]:
        """The tasks that refer to outputs that never appear, and those that nothing can resume."""
        found = [task.stuck for task in self.wanted if task.stuck]
        left = None if self.lost else self.awaited
        if left is not None and not left.fulfilled and not left.lock:
            found.append(f"{left.name}: it is {left.phase}, and what it is part of has ended")
        return [*found, *([self.lost] if self.lost else [])]

    def abort(self) -> None:
        """Fail immediately. Argo has recorded tasks that wait for a place: the parent waits for their nodes."""
        name = self.run.parallelism.task_in(self)
        if name:
            self.misses(f"{name}, which had no place when {self.node.name} failed")
        super().abort()

    def shut_down(self) -> None:
        """After a stop of the run: fail the graph whatever its tasks' phases, unless an exit hook of a target runs."""
        if not self.on_exit and not self._exiting():
            self.node.outbound = self._outbound()
            self.finish(FAILED)

    def go_on(self) -> None:
        """End the graph if all of it has ended."""
        self._maybe_finish()

    def _maybe_finish(self) -> None:
        """End the graph with its assessed phase if all of it has ended (assessDAGPhase)."""
        if self.over or self.fails():
            return
        if self.run.strategy is not None and not self.on_exit:
            return  # the end of the pass ends it
        if not self.going_on or self.adrift:
            self._assess()

    def _assess(self) -> None:
        """End the graph with the phase that follows from its nodes, unless that is Running."""
        phase = RUNNING if self.lost else self._phase()
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
                self.run.remember(task.node.outputs, self.node)
            scope = Scope(self.inputs, prefix="tasks", results=self._results(None))
            outputs = outputs_of(declared, scope)
        except ArgoError as error:
            self.refuse(str(error))
            return
        if outputs is not None:
            self.node.outputs = outputs
        self.node.outbound = self._outbound()
        self.finish(SUCCEEDED)

    def _exiting(self) -> bool:
        names = [f"{self.node.name}.{name}.onExit" for name in self.targets]
        return any(name in self.run.nodes and not self.run.nodes[name].fulfilled for name in names)

    def _outbound(self) -> list[Node]:
        nodes = [self.tasks[name].node for name in self.targets]
        return [end for node in nodes if node is not None for end in ends(node)]

    def _phase(self) -> str:
        """The phase in which the graph ended, or Running."""
        phases = self._walked()
        if phases is None:
            return RUNNING
        targets = {name: self.tasks[name].holder for name in self.targets}
        return assessed(phases, targets, fails_fast=self.fails_fast)

    def _walked(self) -> dict[str, str] | None:
        """The phases of the targets, or None while any is unfinished, in which case it is waited for."""
        nodes = {name: self.tasks[name].node for name in self.targets}
        targets = {node.id: name for name, node in nodes.items() if node is not None}
        found = walked(self.node, targets, self._found_out)
        if not isinstance(found, Node):
            return found
        if self.awaited is not found:
            self.awaited = found
            rounds = found.children.values() if found.type == "TaskGroup" else ()
            for one in (found, *(child for child in rounds if not child.fulfilled)):
                self.run.when_fulfilled(one, partial(self.run.agenda.later, self._maybe_finish))
        return None

    def _found_out(self, group: Node, rounds: list[Node]) -> None:
        """End a loop although, for Argo, one of its rounds has not ended: its exit hook is running."""
        group.late = True
        complete(self, group, rounds)

    def awaited_before(self, group: Node) -> Node | None:
        """The unfinished node that Argo visits before the end of a loop, the loop itself, or None."""
        if self.awaited is None or self.awaited.fulfilled or self.awaited is group:
            self._assess()
        return self.awaited


class _TaskHooks(Hooks):
    """The hooks of a task, or of a round of it. Those of a target request a free place repeatedly (executeDAG)."""

    def __init__(self, graph: Dag, task: Task, node: Node) -> None:
        name = f"tasks.{task.name}"
        self.graph = graph
        self.task = task
        self.loop = None if node is task.node else task.loop
        self.at = 0 if self.loop is None else self.loop.place(node)
        self.is_target = self.loop is None and task.name in graph.last
        self.again = graph.hook_fails if self.is_target else None
        super().__init__(graph, node, Names(name, name), waits=not self.is_target, rank=task.rank)

    def holder(self) -> Json:
        found = self.graph.task_now(self.task)
        return {**found, "hooks": _hooks_of(found, whole=self.loop is None)}

    def scope(self) -> Scope:
        return self.graph.scope(self.task)

    def settled(self) -> None:
        self.graph.node_settled(self.task, self.loop, self.node)

    def refused(self, message: str, on_exit: bool) -> None:
        if not on_exit:
            self.graph.hook_refused(self, message)

    def looked(self) -> bool:
        return self.graph.looks_at(self.task, self.node)

    def first(self, ask: Callable[[], None]) -> None:
        """Evaluate the hooks for the first time: for a target, before Argo visits the next one."""
        if self.is_target:
            self.run.agenda.soon(partial(self._ask_first, ask))
        else:
            self.run.agenda.in_next_pass(ask)

    def _ask_first(self, ask: Callable[[], None]) -> None:
        """Evaluate them before the next target is visited, or last if the node still ends in this pass."""
        goes_on = self.node.completed or not self.node.at_rest()
        (self.run.agenda.soon if goes_on else self.run.agenda.at_last)(ask)

    def goes_on_without(self) -> bool:
        return self.loop is None and not self.is_target

    def comes_back(self) -> bool:
        if not self.looked():
            self.graph.lost = f"{self.node.name}: its exit hook had no place when what follows had ended"
        return self.looked()

    def turn(self, begin: Callable[[], None]) -> None:
        if self.loop is None:
            begin()
        else:
            self.loop.leave(self.at, self.node, begin)


def _hooks_of(holder: Json, *, whole: bool) -> Json:
    """The hooks of a task, or those of each of its rounds."""
    found = part(holder, "hooks")
    return found if whole else {name: hook for name, hook in found.items() if name == EXIT}
