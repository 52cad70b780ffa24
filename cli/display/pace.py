"""How often a display is updated."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

_CHEAP = 0.01


class Pace:
    """Limits updates: each costs as much as the run has nodes, and updates may take a tenth of the time.

    One that takes less than a few milliseconds is always due, so that of a small run every change is shown.
    """

    def __init__(self, least: float = 0.0) -> None:
        self._least = least
        self._next = 0.0

    def due(self) -> bool:
        """Whether it is time for another update."""
        return time.monotonic() >= self._next

    @contextmanager
    def look(self) -> Generator[None]:
        """Measure an update."""
        began = time.monotonic()
        yield
        now = time.monotonic()
        taken = now - began
        self._next = now + max(self._least, 9 * taken if taken > _CHEAP else 0)
