"""Limits on the pods and templates that run at the same time, and what waits for a free place.

Sources: checkParallelism in workflow/controller/operator.go, and node_counters.go, of Argo 4.1.
"""

from __future__ import annotations

import heapq
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local.controller.node import Node
from flowdsl.runtime.phases import FAILURES, PENDING, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.agenda import Agenda
    from flowdsl.runtime.local.controller.protocols import Boundary, Call, Position

FULL = "Max parallelism reached"

_COUNTED = frozenset(("Pod", "Steps", "DAG"))
_ACTIVE = frozenset((PENDING, RUNNING))


class Turn(NamedTuple):
    """A request that waits for a place, and its unique position in Argo's order."""

    turn: Position
    call: Call
    action: Callable[[], None]


class Places:
    """The counted children of a template (of the types Pod, Steps and DAG), and those that wait for a place."""

    def __init__(self) -> None:
        self.active = 0
        self.active_pods = 0
        self.unsuccessful = 0
        self.failures = 0
        """How many children had failed when this pass began; graphs that fail in a pass count from the next one on."""
        self.grown = 0
        """The pass in which a pod was last requested."""
        self.postponed: list[Callable[[], None]] = []
        """The postponed actions in the template, for when it continues."""
        self.waiting: list[Turn] = []
        """The requests that wait for a place in the template; a heap."""
        self.queued: list[int] = []
        """The ranks of the children that wait for a place in the workflow; a heap."""

    def wait(self, call: Call, action: Callable[[], None]) -> None:
        """Call an action when there is a place for it here."""
        heapq.heappush(self.waiting, Turn(call.turn, call, action))

    def turn_down(self, frame: Boundary) -> None:
        """Remove the requests that wait for a place in a template that starts nothing more."""
        while self.waiting:
            turn = heapq.heappop(self.waiting)
            if not frame.turns_down(turn.call):
                heapq.heappush(self.waiting, turn)
                return

    def waits_before(self, call: Call) -> bool:
        """Whether a request that Argo visits earlier waits for a place in the template: it gets a free one first.

        Hooks have the turn of their node.
        """
        return not call.hooked and bool(self.waiting) and self.waiting[0].turn < call.turn

    def wait_before(self, rank: int) -> bool:
        """Whether a request of a lower rank waits."""
        return bool(
            (self.queued and self.queued[0] < rank) or (self.waiting and self.waiting[0].call.rank < rank)
        )


class Parallelism:
    """The places of a workflow, and the order in which they are assigned."""

    def __init__(self, agenda: Agenda, within: Callable[[Node | None, Callable[[], None]], None]) -> None:
        self._agenda = agenda
        self._within = within
        """Performs an action inside of a node, when Argo visits that."""
        self.limit = 0
        """How many pods may be active; 0 for no limit."""
        self.narrow = False
        """Whether it, or a template that has begun, has a limit."""
        self.full = False
        """Whether this pass began without a free place: then Argo visits no template."""
        self.postponed: list[Callable[[], None]] = []
        """The postponed actions, for when there is a free place."""
        self.asked: list[Callable[[], None]] = []
        """Checks the running hooks of graphs for a free place, when the last one has been taken."""
        self._active_pods = 0
        self._waiting: list[Turn] = []
        self._behind: list[tuple[Position, int, Callable[[], None]]] = []
        """The visits of templates that come after those that wait for a place; a heap."""
        self._made = 0
        self._freed: dict[str, Boundary] = {}
        self._filled: Position = ()
        """The turn of the template in which the last pod was requested."""

    def saturated(self) -> bool:
        """Whether the workflow's limit of pods is reached."""
        return bool(self.limit) and self._active_pods >= self.limit

    def begin_pass(self) -> None:
        """Note whether there is a free place; if so, perform the actions that were postponed without one."""
        self.full = self.saturated()
        if not self.full:
            self._agenda.later(*self.postponed)
            self.postponed.clear()

    def postpones(self, frame: Boundary | None, action: Callable[[], None]) -> bool:
        """Whether an action in a template is postponed, because this pass began without a free place."""
        if self.full:
            self.postponed.append(action)
        elif frame is not None and frame.full():
            frame.places.postponed.append(action)
        else:
            return False
        return True

    def precede(self, turn: Position, again: Callable[[], None]) -> bool:
        """Whether what Argo visits before a template takes the free places of the workflow, or has just taken them.

        `again` visits the template after that, in this pass or when there is a free place.
        """
        if not self.limit:
            return False
        if self.saturated():
            if self._filled >= turn:
                return False
            self.postponed.append(again)
            return True
        if not self._waiting or self._waiting[0].turn >= turn:
            return False
        self._made += 1
        heapq.heappush(self._behind, (turn, self._made, again))
        return True

    def waits(self, call: Call, action: Callable[[], None]) -> bool:
        """Whether there is no place in the workflow for a request; `action` is performed when there is.

        Waiting requests that Argo visits earlier precede it.
        """
        if not self.saturated() and not (self._waiting and self._waiting[0].turn < call.turn):
            return False
        if call.frame is not None:
            heapq.heappush(call.frame.places.queued, call.rank)
        heapq.heappush(self._waiting, Turn(call.turn, call, action))
        return True

    def task_in(self, frame: Boundary) -> str:
        """The name of a task in a template that waits for a place, in it or in the workflow; empty if none."""
        turns = chain(frame.places.waiting, (turn for turn in self._waiting if turn.call.frame is frame))
        return next((turn.call.name for turn in turns if not turn.call.hooked), "")

    def after_those_within(self, frame: Boundary, rank: int, action: Callable[[], None]) -> None:
        """Perform an action now, or if requests of a lower rank wait, in the next pass, when these may have started."""
        if frame.places.wait_before(rank):
            self._agenda.in_next_pass(action)
        else:
            action()

    def hand_out(self) -> bool:
        """Assign a free place to the first request that waits for one, or visit what comes before it.

        Returns whether there may be more.
        """
        if self._behind and (
            self.saturated() or not self._waiting or self._waiting[0].turn >= self._behind[0][0]
        ):
            self._agenda.later(heapq.heappop(self._behind)[2])
            return True
        if not self._freed and not self._waiting:
            return False
        freed = len(self._freed)
        for frame in list(self._freed.values()):
            frame.places.turn_down(frame)
            if not frame.places.waiting or frame.blocked():
                del self._freed[frame.node.name]
        open_to_all = bool(self._waiting) and not self.saturated()
        frames = [frame for frame in self._freed.values() if frame.places.waiting]
        if frames:
            frame = min(frames, key=_first)
            if not open_to_all or _first(frame) < self._waiting[0].turn:
                self._within(frame.node, heapq.heappop(frame.places.waiting).action)
                return True
        if not open_to_all:
            return freed > 0
        _, call, action = heapq.heappop(self._waiting)
        if call.frame is not None:
            heapq.heappop(call.frame.places.queued)
        self._within(None if call.frame is None else call.frame.node, action)
        return True

    def ask_again(self) -> None:
        """Check the running hooks for a free place, when there is none any more."""
        asked, self.asked = self.asked, []
        for one in asked:
            one()

    def count(
        self, node: Node, frame: Boundary | None, before: str, after: str, pod_before: str, pod_after: str
    ) -> None:
        """Count the change of a node's phase.

        A node that waits for a lock is active, but its pod is not.
        """
        if node.type not in _COUNTED:
            return
        pods = (pod_after in _ACTIVE) - (pod_before in _ACTIVE) if node.type == "Pod" else 0
        self._active_pods += pods
        if pods > 0:
            self._filled = () if frame is None else frame.execution.call.turn
        if frame is None:
            return
        change = (after in _ACTIVE) - (before in _ACTIVE)
        places = frame.places
        places.active += change
        places.active_pods += pods
        if pods > 0:
            places.grown = self._agenda.passes
        elif pods < 0:
            self._agenda.later(*places.postponed)
            places.postponed.clear()
        if change < 0:
            self._freed[frame.node.name] = frame
        failures = (after in FAILURES) - (before in FAILURES)
        places.unsuccessful += failures
        if node.type == "Pod" and node.told != self._agenda.passes:
            places.failures += failures
            if not places.active_pods and frame.gives_up():
                self._agenda.soon(frame.fail_fast)
        elif failures:
            self._agenda.in_next_pass(partial(_found_out, frame, failures))


def _first(frame: Boundary) -> Position:
    """The turn of the first waiting request in a template."""
    return frame.places.waiting[0].turn


def _found_out(frame: Boundary, failures: int) -> None:
    """Count the failures of the previous pass among children that are not pods, or never became pods."""
    frame.places.failures += failures
    frame.fail_fast()
