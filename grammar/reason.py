"""Why a file cannot be read, for a message that names the file itself."""

from __future__ import annotations


def reason(error: Exception) -> str:
    """The words of the system for an error, without its number and the path; else those of the error."""
    return getattr(error, "strerror", None) or str(error)
