"""Decodes bytes as Go does where it writes them as JSON."""

from __future__ import annotations

_NO_TEXT = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


def decoded(data: bytes) -> str:
    """The text of bytes: each byte that is not UTF-8 becomes a replacement character."""
    return data.decode(errors="surrogateescape").translate(_NO_TEXT)
