"""The work queue of a run: now, in the next reconciliation of Argo's controller, and at given times."""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Timer(NamedTuple):
    """An action that is due at a time."""

    time: float
    made: int
    action: Callable[[], None]
    wanted: Callable[[], bool]


class Agenda:
    """The queue of actions."""

    def __init__(self) -> None:
        self.passes = 0
        """How many times Argo would have reconciled the workflow."""
        self._now: deque[Callable[[], object]] = deque()
        self._last: deque[Callable[[], object]] = deque()
        self._next_pass: deque[Callable[[], object]] = deque()
        self._stalled: list[Callable[[], object]] = []
        self._timers: list[Timer] = []
        self._due = 0.0
        self._made = 0

    def later(self, *actions: Callable[[], object]) -> None:
        """Append actions to the queue."""
        self._now.extend(actions)

    def soon(self, *actions: Callable[[], object]) -> None:
        """Insert actions before all others: what a part starts is started before the next part."""
        self._now.extendleft(reversed(actions))

    def at_last(self, action: Callable[[], object]) -> None:
        """Call an action in this pass once the queue is empty."""
        self._last.append(action)

    def in_next_pass(self, action: Callable[[], object]) -> None:
        """Call an action in the next pass, when Argo reconciles the workflow again."""
        self._next_pass.append(action)

    def at(self, time: float, action: Callable[[], None], wanted: Callable[[], bool] | None = None) -> None:
        """Call an action at a time, or later. The timer is dropped once `wanted` returns False."""
        self._made += 1
        heapq.heappush(self._timers, Timer(time, self._made, action, wanted or _always))

    def put_off(self, seconds: float) -> None:
        """Delay all timers."""
        self._timers = [one._replace(time=one.time + seconds) for one in self._timers]  # a heap as before

    def tick(self, now: float) -> None:
        """Let `work` process the actions that are due, one after the other, each with its consequences."""
        self._due = now

    def next_timer(self) -> float | None:
        """The time of the next timer that is still wanted."""
        while self._timers and not self._timers[0].wanted():
            heapq.heappop(self._timers)
        return self._timers[0].time if self._timers else None

    def stall(self) -> None:
        """Leave all that is queued, from the action that has just raised an exception on, until `resume`."""
        self._stalled += [*self._now, *self._last, *self._next_pass]
        for queue in (self._now, self._last, self._next_pass):
            queue.clear()

    def resume(self) -> None:
        """Queue again what was left, for when all else is done in this pass: timers do not wait for it."""
        self._last.extend(self._stalled)
        self._stalled.clear()

    def work(self) -> None:
        """Process the queue until it is empty. If an action raises an exception, it stays the first."""
        while True:
            while self._now:
                action = self._now.popleft()
                try:
                    action()
                except Exception:
                    self._now.appendleft(action)
                    raise
            if self._timers and self._timers[0].time <= self._due:
                self._now.append(heapq.heappop(self._timers).action)
            elif self._last:
                self._now.append(self._last.popleft())
            else:
                return

    def more(self) -> bool:
        """Whether there is work for the next pass."""
        return bool(self._next_pass)

    def go_on(self) -> None:
        """Move the first action of the next pass to the queue."""
        self._now.append(self._next_pass.popleft())


def _always() -> bool:
    return True
