"""Symbols for phases, on streams that can encode them."""

from __future__ import annotations

from flowdsl.runtime.phases import ERROR, FAILED, OMITTED, PENDING, RUNNING, SKIPPED, SUCCEEDED

SIGNS = {
    SUCCEEDED: ("✓", "green"),
    FAILED: ("✗", "red"),
    ERROR: ("✗", "red"),
    RUNNING: ("●", "cyan"),
    PENDING: ("·", "dim"),
    SKIPPED: ("○", "dim"),
    OMITTED: ("○", "dim"),
}
"""The sign of a phase, and its style."""
_ASCII = {"✓": "+", "✗": "x", "●": "*", "·": ".", "○": "-"}


def style_of(phase: str) -> str:
    """The style of a phase; none for an unknown word."""
    return SIGNS[phase][1] if phase in SIGNS else ""


def verb(phase: str) -> str:
    """A phase as the verb of a sentence."""
    return "ended with an error" if phase == ERROR else phase.lower()


def plain(stream: object) -> bool:
    """Whether a stream supports ASCII only."""
    encoding: object = getattr(stream, "encoding", None)
    return str(encoding or "ascii").lower().replace("-", "") not in ("utf8", "utf16")


def shown(sign: str, ascii_only: bool) -> str:
    """A sign in a form that a stream can encode."""
    return _ASCII.get(sign, sign) if ascii_only else sign
