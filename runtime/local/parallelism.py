"""How many pods and templates may be at work at once, and what waits until fewer are.

Sources: checkParallelism in workflow/controller/operator.go, and node_counters.go, of Argo 4.1.
"""

from __future__ import annotations

import heapq
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.runtime.local.node import ERROR, FAILED, PENDING, RUNNING, Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.agenda import Agenda
    from flowdsl.runtime.local.protocols import Boundary

FULL = "Max parallelism reached"

_COUNTED = frozenset(("Pod", "Steps", "DAG"))
_ACTIVE = frozenset((PENDING, RUNNING))


class Turn(NamedTuple):
    """What waits for a place in a template: where its task stands among the others, and since when."""

    rank: int
    made: int
    action: Callable[[], None]


class Places:
    """The children of a template that count (of the types Pod, Steps and DAG), and those that wait for a place."""

    def __init__(self) -> None:
        self.active = 0
        self.active_pods = 0
        self.unsuccessful = 0
        self.failures = 0
        """Of the children, how many had failed when this pass began; that graphs and lists in it fail, it finds out."""
        self.grown = 0
        """In which pass a pod was last asked for."""
        self.postponed: list[Callable[[], None]] = []
        """What looks at the template when it goes on again."""
        self.waiting: list[Turn] = []
        self.queued: deque[int] = deque()
        """The ranks of the children that wait for a place in the workflow, in the order of their turns."""
        self._made = 0

    def wait(self, rank: int, action: Callable[[], None]) -> None:
        """Do something when there is a place for it here."""
        self._made += 1
        heapq.heappush(self.waiting, Turn(rank, self._made, action))

    def wait_before(self, rank: int) -> bool:
        """Whether something of a lower rank waits."""
        return bool((self.queued and self.queued[0] < rank) or (self.waiting and self.waiting[0].rank < rank))


class Parallelism:
    """The places of a workflow, and who gets one that becomes free."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self.limit = 0
        """How many pods may be active, or 0."""
        self.full = False
        """Whether this pass began without a free place: then Argo looks at nothing."""
        self.postponed: list[Callable[[], None]] = []
        """What looks at it when there is one."""
        self.asked: list[Callable[[], None]] = []
        """Asks the hooks of graphs that run for a free place, where the last one is taken."""
        self._active_pods = 0
        self._waiting: deque[tuple[Boundary | None, Callable[[], None]]] = deque()
        self._freed: dict[str, Boundary] = {}

    def saturated(self) -> bool:
        """Whether the workflow lets no pod begin."""
        return bool(self.limit) and self._active_pods >= self.limit

    def begin_pass(self) -> None:
        """Note whether there is a free place; if so, look at what was not looked at while there was none."""
        self.full = self.saturated()
        if not self.full:
            self._agenda.later(*self.postponed)
            self.postponed.clear()

    def wait(self, frame: Boundary | None, rank: int, action: Callable[[], None]) -> None:
        """Do something when the workflow lets another pod begin."""
        if frame is not None:
            frame.places.queued.append(rank)
        self._waiting.append((frame, action))

    def wait_within(self, frame: Boundary, rank: int, action: Callable[[], None]) -> None:
        """Do something when a template lets another of its children begin."""
        frame.places.wait(rank, action)

    def after_those_within(self, frame: Boundary, rank: int, action: Callable[[], None]) -> None:
        """Do something when those before it have begun that may and wait for a free place; now, if none do."""
        if frame.places.wait_before(rank):
            self._agenda.in_next_pass(action)
        else:
            action()

    def hand_out(self) -> bool:
        """Give a free place to somebody who waits for one, and say whether there may be more to give."""
        if self._waiting and not self.saturated():
            frame, action = self._waiting.popleft()
            if frame is not None:
                frame.places.queued.popleft()
            self._agenda.later(action)
            return True
        if self._freed:
            _, frame = self._freed.popitem()
            waiting = frame.places.waiting
            if waiting and not frame.fail_fast(begins=True) and not frame.blocked():
                self._freed[frame.node.name] = frame
                self._agenda.later(heapq.heappop(waiting).action)
            return True
        return False

    def ask_again(self) -> None:
        """Ask hooks that run for a free place, where there is none any more."""
        asked, self.asked = self.asked, []
        for one in asked:
            one()

    def count(
        self, node: Node, frame: Boundary | None, before: str, after: str, pod_before: str, pod_after: str
    ) -> None:
        """Note that the phase of a node in a template has changed.

        A node that waits for a lock is active, but its pod is not.
        """
        if node.type not in _COUNTED:
            return
        pods = (pod_after in _ACTIVE) - (pod_before in _ACTIVE) if node.type == "Pod" else 0
        self._active_pods += pods
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
        failures = (after in (FAILED, ERROR)) - (before in (FAILED, ERROR))
        places.unsuccessful += failures
        if node.type == "Pod":
            places.failures += failures
            if not places.active_pods and frame.gives_up():
                self._agenda.soon(frame.fail_fast)
        elif failures:
            self._agenda.in_next_pass(partial(_found_out, frame, failures))


def _found_out(frame: Boundary, failures: int) -> None:
    """A pass begins: of children that are graphs or lists, these have failed in the one before."""
    frame.places.failures += failures
    frame.fail_fast()
