"""Symbols for phases, on streams that can encode them."""

from __future__ import annotations

SIGNS = {
    "Succeeded": ("✓", "green"),
    "Failed": ("✗", "red"),
    "Error": ("✗", "red"),
    "Running": ("●", "cyan"),
    "Pending": ("·", "dim"),
    "Skipped": ("○", "dim"),
    "Omitted": ("○", "dim"),
}
"""The sign of a phase, and its style."""
_ASCII = {"✓": "+", "✗": "x", "●": "*", "·": ".", "○": "-"}


def style_of(phase: str) -> str:
    """The style of a phase; none for an unknown word."""
    return SIGNS[phase][1] if phase in SIGNS else ""


def verb(phase: str) -> str:
    """A phase as the verb of a sentence."""
    return "ended with an error" if phase == "Error" else phase.lower()


def plain(stream: object) -> bool:
    """Whether a stream supports ASCII only."""
    encoding: object = getattr(stream, "encoding", None)
    return str(encoding or "ascii").lower().replace("-", "") not in ("utf8", "utf16")


def shown(sign: str, ascii_only: bool) -> str:
    """A sign in a form that a stream can encode."""
    return _ASCII.get(sign, sign) if ascii_only else sign
