"""Times in the format of Kubernetes: RFC 3339, in whole seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def rfc3339(seconds: float) -> str:
    """Formats a time, in seconds since 1970; fractions are cut off."""
    return _written(int(seconds))


@lru_cache(maxsize=1024)
def _written(seconds: int) -> str:
    # strftime writes the year 999 with three digits.
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def seconds(time: object) -> float | None:
    """Parses a time to seconds since 1970; None if it is invalid."""
    if not isinstance(time, str):
        return None
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
