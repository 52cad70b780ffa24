"""Reads the state of a run on this machine from another process."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.reason import reason
from flowdsl.runtime.cluster.trouble import Overdue, Vanished
from flowdsl.runtime.local.earlier import state
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.runner import going_on
from flowdsl.runtime.local.status import STATE
from flowdsl.runtime.phases import over, phase

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

Json = dict[str, Any]

_EVERY = 0.3
"""Seconds between two checks."""


def states(folder: Path, seconds: float | None = None) -> Generator[Json | None, None, None]:
    """The states of a run, whenever it changes, until its end. None means that time has passed.

    Raises Vanished when its folder is removed, Overdue after so many seconds, and RunError if no process executes
    it, or it cannot be read.
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    seen: Json = {}
    while True:
        going = going_on(folder)
        try:
            found = state(folder)
        except FileNotFoundError:
            raise Vanished(f"the run `{folder.name}` on this machine was deleted") from None
        except (OSError, ValueError) as error:
            raise RunError(f"{folder / STATE} cannot be read: {reason(error)}") from None
        yield found if found != seen else None
        seen = found
        if over(found):
            return
        if not going:
            raise RunError(
                f"`{folder.name}` is a run on this machine that nobody runs now: flowdsl run --resume {folder.name}"
            )
        left = end - time.monotonic()
        if left <= 0:
            raise Overdue(f"the run `{folder.name}` has not ended in time: it is {phase(found)}")
        time.sleep(min(_EVERY, left))
