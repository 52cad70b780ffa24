"""Executes a DAG task with a loop: its rounds, which start one after the other, and their exit hooks.

Source: executeDAGTask in workflow/controller/dag.go of Argo 4.1.
"""

from __future__ import annotations

import heapq
from functools import partial
from typing import TYPE_CHECKING, Protocol

from flowdsl.runtime.local.controller.arguments import holds
from flowdsl.runtime.local.controller.hooks import exit_hook
from flowdsl.runtime.local.controller.node import Json, Node
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.phases import ERROR, SKIPPED, SUCCEEDED

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterable

    from flowdsl.runtime.local.controller.node import Type
    from flowdsl.runtime.local.controller.run import Run
    from flowdsl.runtime.local.controller.tasks import Task


class Graph(Protocol):
    """The graph of a loop."""

    run: Run
    lost: str

    def goes_on(self) -> bool:
        """Whether tasks may start and end."""
        ...

    def execute(
        self,
        task: Task,
        holder: Json,
        created: Callable[[Node], None],
        refused: Callable[[Node], None],
        kept: Callable[[Callable[[], None]], bool] | None = None,
    ) -> None:
        """Execute the template of a round.

        `refused` is called with the node of one that cannot start, `kept` with the action that starts it.
        """

    def watch(self, task: Task, node: Node) -> None:
        """Follow the node of a round until it and its hooks have ended."""

    def new_node(self, name: str, type: Type, phase: str, holder: Json) -> Node:
        """Create a node in the graph for something that Argo itself adds."""
        ...

    def awaited_before(self, group: Node) -> Node | None:
        """The running node that Argo visits before the end of a loop, the loop itself, or None."""
        ...


class Loop:
    """The rounds of a task, whose nodes are children of `group`."""

    def __init__(self, dag: Graph, task: Task, group: Node, made: deque[Json]) -> None:
        self.rounds: list[Node] = []
        self._dag = dag
        self._run = dag.run
        self._task = task
        self._group = group
        self._made = made
        """The rounds that have not started."""
        self._asked = 0
        """How many rounds have been requested: some may wait for a free place."""
        self._open = len(made)
        self._refused: Node | None = None
        """A round that could not start, after which Argo starts none in the same pass."""
        self._stays: Node | None = None
        """A round with an exit hook that has ended at once: Argo starts none after it before the hook has ended."""
        self._past = 0
        """The number of rounds when such a round had settled."""
        self._unasked: Node | None = None
        """The last round whose `when` is invalid: Argo requests its exit hook when it visits it again."""
        self._exits: list[tuple[int, str, Callable[[], None]]] = []
        """The exit hooks that wait for their turn, a heap: the position of the round, its node, and the hook."""
        self._leaving: dict[str, int] = {}
        """The positions of the rounds whose exit hooks run; the last one is the lowest."""
        self._kept: list[tuple[int, int, Node, Callable[[], None]]] = []
        """The actions in rounds for Argo's next visit, a heap by the position of the round."""
        self._count = 0
        self._waits = False
        """Whether a hook of the whole loop runs, after which it continues."""

    # --- rounds ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start the rounds that have not started.

        If one cannot start, Argo leaves those after it to the next pass, and gets no further while it still cannot.
        A loop whose started rounds have all ended meanwhile has ended itself.
        """
        if not self._made or self._group.fulfilled or not self._dag.goes_on():
            return
        if self._refused is not None:
            self._run.agenda.later(self._held_up)
            return
        last = self.rounds[-1] if len(self.rounds) > self._past else None
        if last is not None and last.completed and last is not self._unasked and self._leaves():
            self._stays = last
            return
        self._run.agenda.soon(self.begin)
        self._round(self._made.popleft())

    def _leaves(self) -> bool:
        """Whether the rounds have an exit hook."""
        return exit_hook(self._task.holder, self._run.arguments) is not None

    def _begin_behind(self) -> None:
        """Start the rounds after one that has ended at once, when no exit hook of a round runs."""
        if self._past == len(self.rounds) and not self._exits and not self._leaving:
            self._stays = None
            self.begin()

    def _held_up(self) -> None:
        """Handle the end of a pass in which a round could not start."""
        self._find_out(self._held_up)
        if self._refused is not None and not self._refused.refused:
            self._refused = None
            self._run.agenda.in_next_pass(self.begin)

    def _round(self, holder: Json) -> None:
        try:
            proceed = holds(holder.get("when") or "")
            phase, message = SKIPPED, f"when '{holder.get('when')}' evaluated false"
        except ArgoError as error:
            proceed, phase, message = False, ERROR, str(error)
        place, self._asked = self._asked, self._asked + 1
        if proceed:
            kept = partial(self._not_yet, place)
            self._dag.execute(self._task, holder, self._begun, self._cannot_begin, kept)
            return
        node = self._dag.new_node(holder["name"], "Skipped", phase, holder)
        node.message = message
        self._adopt(node)
        if phase == ERROR and self._leaves():
            self._unasked = node
            self._run.agenda.in_next_pass(partial(self._come_again, node))
        self.settled(node)

    def _come_again(self, node: Node) -> None:
        """Request the exit hook of a round whose `when` is invalid, if the loop has not ended."""
        if not self._group.fulfilled and self._dag.goes_on():
            self._open += 1
            self._dag.watch(self._task, node)

    def place(self, node: Node) -> int:
        """The position of a round."""
        return len(self.rounds) - 1 if self.rounds[-1] is node else self.rounds.index(node)

    def _begun(self, node: Node) -> None:
        self._adopt(node)
        self._dag.watch(self._task, node)

    def _adopt(self, node: Node) -> None:
        self._group.adopt(node)
        self.rounds.append(node)

    def _cannot_begin(self, node: Node) -> None:
        self._refused = node

    # --- their ends --------------------------------------------------------------------------------

    def settled(self, node: Node) -> None:
        """Handle the end of a round and its hooks."""
        self._open -= 1
        if node is self._stays:
            self._past = len(self.rounds)
        if self._stays is not None:
            self._run.agenda.later(self._begin_behind)
        if self._leaving.pop(node.id, None) is not None:
            self._run.agenda.later(self._go_on)
        elif self._exits or self._leaving:
            self._run.agenda.later(self._next_exit)
        self._end()

    def _end(self) -> None:
        """End the loop if all of its rounds have ended, and no hook of the whole loop runs."""
        ended = not self._open and not self._group.fulfilled and self._dag.goes_on()
        if ended and not self._waits and not self._waits_for_hooks():
            complete(self._dag, self._group, self.rounds)

    def leave(self, place: int, node: Node, begin: Callable[[], None]) -> None:
        """Start the exit hook of a round in its turn."""
        heapq.heappush(self._exits, (place, node.id, begin))
        self._run.agenda.later(self._next_exit)

    def _next_exit(self) -> None:
        """Start an exit hook, if none of an earlier round runs.

        A loop may end while one runs, when Argo assesses the graph; then no other starts.
        """
        if not self._dag.goes_on() or self._group.fulfilled:
            return
        if self._waits or self._waits_for_hooks():
            return
        if self._exits and self._exits[0][0] < self._first():
            place, identity, begin = heapq.heappop(self._exits)
            self._leaving[identity] = place
            begin()
        if self._open - len(self._made) == len(self._exits) + len(self._leaving):
            self._find_out(self._next_exit)

    def _first(self) -> int:
        """The position of the first round whose exit hook runs, after which Argo visits none."""
        return next(reversed(self._leaving.values()), len(self.rounds))

    def postpones(self, place: int, within: Node, action: Callable[[], None]) -> bool:
        """Whether an action in a round that is a graph, or retried, is postponed until Argo visits the round."""
        comes = self._group.fulfilled or place <= self._first()
        if not self._waits and not self._waits_for_hooks() and comes:
            return False
        self._count += 1
        heapq.heappush(self._kept, (place, self._count, within, action))
        return True

    def _not_yet(self, place: int, action: Callable[[], None]) -> bool:
        """Whether the start of a round is postponed, because the exit hook of an earlier one runs."""
        leaving = next(reversed(self._leaving.values()), place)
        leaves = self._exits[0][0] if self._exits else place
        if self._group.fulfilled or place <= min(leaving, leaves):
            return False
        self._count += 1
        heapq.heappush(self._kept, (place, self._count, self._group, action))
        return True

    def _waits_for_hooks(self) -> bool:
        """Whether Argo visits no round, because a hook of the whole loop runs; the loop continues after that."""
        hooks = self._task.hooks
        self._waits = hooks is not None and hooks.postpones(self._group, self._hooks_ended)
        return self._waits

    def _hooks_ended(self) -> None:
        self._waits = False
        self._end()
        self._go_on()

    def _go_on(self) -> None:
        """Continue after a hook has ended: Argo visits the next rounds, up to one whose exit hook runs."""
        self._next_exit()
        if not self._kept or self._kept[0][0] > self._first() or self._waits or self._waits_for_hooks():
            return
        if self._exits and not self._dag.goes_on():
            return  # they never start, and Argo gets no further
        place = self._kept[0][0]
        while self._kept and self._kept[0][0] == place:
            _, _, within, action = heapq.heappop(self._kept)
            self._run.within(within, action)
        self._run.agenda.in_next_pass(self._go_on)

    def _find_out(self, again: Callable[[], None]) -> None:
        """End the loop if all of its rounds have ended and no earlier node runs; otherwise check again later."""
        left = self._dag.awaited_before(self._group)
        if left is self._group:
            left = next((child for child in self._group.children.values() if not child.fulfilled), None)
        if left is not None and not self._group.fulfilled:
            self._run.when_fulfilled(left, again)


def complete(dag: Graph, group: Node, rounds: Iterable[Node]) -> None:
    """End a loop all of whose rounds have ended."""
    run = dag.run
    failed = [child.phase for child in rounds if child.failed]
    run.mark(group, failed[-1] if failed else SUCCEEDED)
    for hook in [one for child in rounds for one in child.children.values() if one.hooked]:
        if not hook.fulfilled and run.needs_passes(hook):  # Argo does not visit the rounds any more
            run.agenda.later(partial(run.leave, hook))
            dag.lost = f"{hook.name}: an exit hook of a round, which is left when the loop has ended"
