"""Why a run on this machine cannot begin, or go on, and errors of the system in words."""

from __future__ import annotations


class RunError(Exception):
    """A run that cannot begin, or go on: the message says why."""


def said(error: Exception) -> str:
    """What an error says in words: of a file with its path, of a request its reason, without numbers of the system."""
    reason = getattr(error, "reason", error) if isinstance(error, OSError) else error
    if isinstance(reason, OSError):
        return ": ".join(str(one) for one in (reason.filename, reason.strerror or reason) if one)
    return str(reason)
