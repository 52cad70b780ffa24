"""A module of the project, which the step gets from a repository."""

from __future__ import annotations


def size(table: str) -> int:
    return len(table)
