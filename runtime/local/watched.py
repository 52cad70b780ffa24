"""A run on this machine, looked at from another process."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.cluster.trouble import Overdue, Vanished
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.runner import going_on
from flowdsl.runtime.phases import over, phase

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

Json = dict[str, Any]

_EVERY = 0.3
"""Seconds between two looks."""


def states(folder: Path, seconds: float | None = None) -> Generator[Json | None, None, None]:
    """A run each time that it changes, to its end. None says that time has passed.

    Raises Vanished when its folder goes, Overdue after so many seconds, and RunError when nobody runs it.
    """
    end = None if seconds is None else time.monotonic() + seconds
    seen = ""
    while True:
        going = going_on(folder)
        text = ""
        with suppress(OSError):
            text = (folder / "workflow.json").read_text(encoding="utf-8")
        if not text:
            raise Vanished(f"the run `{folder.name}` on this machine was deleted")
        found: Json = json.loads(text)
        yield found if text != seen else None
        seen = text
        if over(found):
            return
        if not going:
            raise RunError(
                f"`{folder.name}` is a run on this machine that nobody runs now: flowdsl run --resume {folder.name}"
            )
        if end is not None and time.monotonic() > end:
            raise Overdue(f"the run `{folder.name}` has not ended in time: it is {phase(found)}")
        time.sleep(_EVERY)
