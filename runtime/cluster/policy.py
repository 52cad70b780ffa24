"""The timeouts, retries and pauses of all requests to a cluster, in one place."""

from __future__ import annotations

import math
import random
import time
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.cluster.trouble import Overdue, Refusal, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_SILENT = 5.0
"""Seconds without progress after which the reason is reported."""


def _nobody(error: Exception, seconds: float) -> None:
    """Default of callbacks: reports to nobody."""


class Policy(NamedTuple):
    """Timeouts in seconds, and the clock that measures them."""

    request: float = 15.0
    """How long one request may take."""
    end: float = math.inf
    """The time, on the clock, at which everything ends."""
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    tell: Callable[[Exception, float], None] = _nobody
    """Called with the error behind a delay, and the seconds for which retries continue."""

    def ending(self, seconds: float | None) -> Policy:
        """The same policy, with an end so many seconds from now, if any."""
        return self if seconds is None else self._replace(end=min(self.end, self.now() + seconds))

    @property
    def over(self) -> bool:
        """Whether the end has been reached."""
        return self.now() >= self.end

    def within(self, seconds: float) -> float:
        """A number of seconds, limited by the end, and never zero."""
        return max(0.1, min(seconds, self.end - self.now()))

    @property
    def patience(self) -> float:
        """For how long a request is retried."""
        return 4 * self.request

    @property
    def contact(self) -> float:
        """For how long a run is followed without an answer before the contact counts as lost."""
        return 20 * self.request

    def pauses(self, patience: float | None = None) -> Pauses:
        """The pauses between the attempts of one request, from now on."""
        return Pauses(self, self.patience if patience is None else patience)


class Pauses:
    """Exponential pauses between the attempts of one request, which end with the policy."""

    def __init__(self, policy: Policy, patience: float) -> None:
        self._policy = policy
        self._patience = patience
        self.begin()

    def begin(self) -> None:
        """Reset after a success."""
        self._pause = _FIRST_PAUSE
        self._told = False
        self.answered()

    def answered(self) -> None:
        """The contact is not lost; the length of the pauses stays."""
        self._since = self._policy.now()
        self._end = self._since + self._patience

    def again(self, error: Refusal | Unreachable, wait: float = 0) -> None:
        """Wait before the next attempt, for as long as the server asked if it did.

        Raises the error when the patience is exhausted or a retry cannot help, and Overdue at the end of the
        policy.
        """
        if isinstance(error, Unreachable) and error.lasting:
            raise error
        pause = max(wait, self._pause * random.uniform(0.5, 1))
        then = self._policy.now() + pause
        if then > self._policy.end:
            self._policy.sleep(max(0.0, self._policy.end - self._policy.now()))
            raise Overdue(f"the time is over: {error}") from error
        if then > self._end:
            raise error
        if then > self._since + _SILENT and not self._told:
            self._told = True
            self._policy.tell(error, min(self._end, self._policy.end) - self._policy.now())
        self._policy.sleep(pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
