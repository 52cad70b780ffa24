"""`wait` and `watch`: follow a run to its end, across lost connections."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from flowdsl.cli.clusters.reach import find
from flowdsl.cli.display.texts import line
from flowdsl.cli.process import DONE, INTERRUPTED, LATE, NO, UNKNOWN, err, note, on_terminal, out, say
from flowdsl.cli.root import seconds_of
from flowdsl.runtime.phases import SUCCEEDED, phase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.cli.clusters.reach import Found, Reach

Json = dict[str, Any]

_STALL = 300.0
"""Seconds without a change after which that is said. Nothing can be done about it from here."""


def wait_for(name: str, timeout: str | None, reach: Reach, *, watch: bool = False) -> int:
    """Wait for the run of a name, and if it is watched show its steps meanwhile; returns the exit code.

    Raises Refused and ClusterError.
    """
    seconds = limit_of(timeout)
    return follow(find(name, reach, within=seconds), seconds, reach, "watch" if watch else "wait")


def follow(found: Found, seconds: float | None, reach: Reach, word: str) -> int:
    """Follow a run to its end; returns the exit code of `wait`. `word`: the command that resumes following.

    Raises Vanished and Refused.
    """
    from flowdsl.runtime.cluster.trouble import ClusterError, Overdue, Vanished
    from flowdsl.runtime.local.error import RunError

    last = found.workflow
    shown = _Shown() if word == "watch" else None
    stall = _Stall()
    try:
        try:
            for state in _states(found, seconds):
                stall(changed=state is not None)
                if state is not None:
                    last = state
                    if shown is not None:
                        shown(state)
        finally:
            if shown is not None:
                shown.close()
    except KeyboardInterrupt:
        err(f"\n{detached(found, word, reach)}")
        return INTERRUPTED
    except Overdue as error:
        return late(found, word, reach, error)
    except Vanished:
        raise
    except ClusterError as error:  # the run is there, whatever keeps it from being seen
        return lost(found._replace(workflow=last), word, reach, error)
    except RunError as error:
        say(str(error))
        return UNKNOWN
    out(f"{ending(last)}\n")
    return DONE if phase(last) == SUCCEEDED else NO


def _states(found: Found, seconds: float | None) -> Iterator[Json | None]:
    if found.cluster is not None:
        from flowdsl.runtime.cluster.ended import states

        found.cluster.policy = found.cluster.policy.ending(seconds)
        return states(found.cluster, found.name, str(found.workflow["metadata"]["uid"]))
    assert found.folder is not None
    from flowdsl.runtime.local import watched

    return watched.states(found.folder, seconds)


def lost(found: Found, word: str, reach: Reach, error: Exception) -> int:
    """Report that a run goes on unseen, why, and how to follow it again; returns the exit code."""
    say(f"the contact to the run `{found.name}` is lost, it was {phase(found.workflow)}: {error}")
    err(_back(found, word, reach))
    return UNKNOWN


def late(found: Found, word: str, reach: Reach, error: Exception) -> int:
    """Report that a run has not ended in time, and how to follow it again; returns the exit code."""
    say(str(error))
    err(_back(found, word, reach))
    return LATE


def detached(found: Found, word: str, reach: Reach) -> str:
    """The message after Ctrl-C: the run goes on."""
    stop = (
        f"or end it with\n  flowdsl stop {found.name}{reach.flags()}\n" if found.cluster is not None else ""
    )
    return f"the run {found.name} continues; {_back(found, word, reach)}{stop}"


def _back(found: Found, word: str, reach: Reach) -> str:
    return f"come back to it with\n  flowdsl {word} {found.name}{reach.flags()}\n"


def ending(workflow: Json) -> str:
    """The end of a run in one line."""
    from flowdsl.cli.display.lengths import length
    from flowdsl.runtime.status.run import Run

    run = Run(workflow)
    taken = run.duration(time.time())
    after = f" after {length(taken)}" if taken is not None and run.ended else ""
    return line(f"{run.name}: {run.status}{after}" + (f": {run.reason}" if run.reason else ""))


def limit_of(timeout: str | None) -> float | None:
    """The seconds of --timeout. Raises Refused."""
    return None if timeout is None else seconds_of("--timeout", timeout, zero=False)


class _Shown:
    """Displays the steps of an unfinished run: a tree on a terminal, elsewhere a line for each change."""

    def __init__(self) -> None:
        from flowdsl.cli.display.lengths import length
        from flowdsl.cli.display.live import Tree
        from flowdsl.cli.display.progress import Changes

        self._tree = Tree() if on_terminal(sys.stderr) else None
        self._changes = Changes(took=length)
        self._said = False

    def __call__(self, workflow: Json) -> None:
        """Show what has changed."""
        from flowdsl.runtime.status.compressed import hidden
        from flowdsl.runtime.status.run import Run

        if not self._said and (why := hidden(workflow)):
            self._said = True
            note(f"no steps are shown: {line(why)}")
        run = Run(workflow)
        if self._tree is not None:
            self._tree.show(run.name, run.started or time.time(), run.entries)
            return
        if lines := self._changes(run.name, run.nodes.values()):
            err("".join(f"{one}\n" for one in lines))

    def close(self) -> None:
        """Stop the display."""
        if self._tree is not None:
            self._tree.close()


class _Stall:
    """Reports that nothing has changed for a while, once per while."""

    def __init__(self) -> None:
        self._changed = time.monotonic()
        self._said = False

    def __call__(self, *, changed: bool) -> None:
        """Check the time."""
        now = time.monotonic()
        if changed:
            self._changed, self._said = now, False
        elif now - self._changed > _STALL and not self._said:
            self._said = True
            minutes = int((now - self._changed) / 60)
            note(f"nothing has changed for {minutes} minutes; flowdsl get shows what is waited for")
