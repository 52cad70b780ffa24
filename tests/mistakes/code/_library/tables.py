"""What steps have in common."""

from __future__ import annotations


def size(table: str) -> int:
    return len(table)
