"""Formats durations and sizes for people."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A duration in short form: `0.3s`, `12s`, `3m 20s`, `2h 5m`."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60}s"
    return f"{whole // 3600}h {whole % 3600 // 60}m"


def length(of: float | None) -> str:
    """A duration; Workflow objects have a resolution of seconds."""
    return "" if of is None else duration(float(int(of))).replace(".0s", "s")


def age(passed: float) -> str:
    """How long ago something was, in its largest unit: `12s`, `5m`, `3h`, `2d`."""
    passed = max(0.0, passed)
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if passed >= 2 * size:
            return f"{int(passed // size)}{unit}"
    return f"{int(passed)}s"


def size(number: int) -> str:
    """A number of bytes in readable form."""
    if number < 1024:
        return f"{number} bytes" if number != 1 else "1 byte"
    left, unit = number / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if left >= 1024:
            left, unit = left / 1024, larger
    return f"{left:.1f} {unit}"
