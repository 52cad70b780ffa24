"""`wait`: a run on a cluster followed to its end, whatever happens on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from flowdsl.cli.process import DONE, INTERRUPTED, NO, UNKNOWN, Refused, err, out
from flowdsl.cli.reach import find

if TYPE_CHECKING:
    from flowdsl.cli.reach import Found, Reach
    from flowdsl.runtime.cluster.seam import Cluster

Json = dict[str, Any]

Show = Callable[[Json | None], None]
"""What looks at each state of a run, and at None when time has passed."""

_TIMES = ("startedAt", "finishedAt")
_STALL = 300.0
"""Seconds without a change after which that is said. Nothing can be done about it from here."""


def wait_for(name: str, timeout: str | None, reach: Reach) -> int:
    """Wait for the run of a name; the exit code. Raises Refused and ClusterError."""
    seconds = seconds_of(timeout)
    found = find(name, reach)
    if found.cluster is None:
        return _of_local(found)
    return follow(found.cluster, found.workflow, seconds, reach, "wait")


def follow(
    cluster: Cluster, run: Json, seconds: float | None, reach: Reach, word: str, show: Show | None = None
) -> int:
    """Follow a run to its end; the exit code, as of `wait`. `word`: the command that comes back to it.

    Raises ClusterError, other than for a contact that is lost.
    """
    from flowdsl.runtime.cluster.ended import phase, states
    from flowdsl.runtime.cluster.trouble import Unreachable

    name = str(run["metadata"]["name"])
    cluster.policy = cluster.policy.ending(seconds)
    last = run
    stall = _Stall()
    try:
        for state in states(cluster, name, str(run["metadata"]["uid"])):
            if state is not None:
                last = state
            stall(last if state is None else None)
            if show is not None:
                show(state)
    except KeyboardInterrupt:
        err(f"\n{detached(name, word, reach)}")
        return INTERRUPTED
    except Unreachable as error:
        err(f"flowdsl: the contact to the run `{name}` is lost, it was {phase(last)}: {error}\n")
        err(f"come back to it with\n  flowdsl {word} {name}{reach.flags()}\n")
        return UNKNOWN
    out(f"{ending(last)}\n")
    return DONE if phase(last) == "Succeeded" else NO


def detached(name: str, word: str, reach: Reach) -> str:
    """What to know after Ctrl-C: the run goes on."""
    flags = reach.flags()
    return (
        f"the run {name} goes on; come back to it with\n  flowdsl {word} {name}{flags}\n"
        f"or end it with\n  flowdsl stop {name}{flags}\n"
    )


def ending(run: Json) -> str:
    """The end of a run in one line."""
    from flowdsl.runtime.cluster.ended import phase
    from flowdsl.runtime.status.tree import duration

    status: Json = run.get("status") or {}
    began, ended = (datetime.fromisoformat(str(status[key])) if status.get(key) else None for key in _TIMES)
    taken = (ended - began).total_seconds() if began and ended else None
    after = f" after {duration(taken)}" if taken is not None else ""
    message = " ".join(str(status.get("message") or "").split())
    return f"{run['metadata']['name']}: {phase(run)}{after}" + (f": {message}" if message else "")


def seconds_of(text: str | None) -> float | None:
    """A length of time that somebody typed, in seconds. Raises Refused."""
    if text is None:
        return None
    from flowdsl.grammar.duration import duration
    from flowdsl.grammar.error import GrammarError

    try:
        found = duration(text)
    except GrammarError as error:
        raise Refused(f"--timeout {text}: {error}") from None
    if found <= 0:
        raise Refused(f"--timeout {text}: it is a time above 0, as 90s, 20m or 6h")
    return found


def _of_local(found: Found) -> int:
    from flowdsl.runtime.cluster.ended import ENDED, phase

    if phase(found.workflow) not in ENDED:
        raise Refused(
            f"`{found.name}` is a run on this machine that does not go on by itself: "
            f"flowdsl run --resume {found.name}"
        )
    out(f"{ending(found.workflow)}\n")
    return DONE if phase(found.workflow) == "Succeeded" else NO


class _Stall:
    """Says that nothing has changed for a while, once for each while."""

    def __init__(self) -> None:
        self._changed = time.monotonic()
        self._said = False

    def __call__(self, unchanged: Json | None) -> None:
        """Look at the time; `unchanged` is the run where it has not changed."""
        now = time.monotonic()
        if unchanged is None:
            self._changed, self._said = now, False
        elif now - self._changed > _STALL and not self._said:
            self._said = True
            minutes = int((now - self._changed) / 60)
            err(f"note: nothing has changed for {minutes} minutes; flowdsl get shows what is waited for\n")
