"""`Duration`: how a time is written wherever it is an option."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta

    Duration = int | str | timedelta
    """A text such as "1h30m", whole seconds, or a timedelta."""
