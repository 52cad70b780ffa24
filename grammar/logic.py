"""Three-valued logic: True, False, and None for unknown."""

from __future__ import annotations


def all_hold(*values: bool | None) -> bool | None:
    """Three-valued "and": False as soon as one is, whatever the others are."""
    return False if False in values else None if None in values else True


def any_holds(*values: bool | None) -> bool | None:
    """Three-valued "or": True as soon as one is, whatever the others are."""
    return True if True in values else None if None in values else False


def negated(value: bool | None) -> bool | None:
    """Three-valued "not"."""
    return None if value is None else not value
