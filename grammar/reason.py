"""The reason of an OS or network error, in the words of the system and without its error number."""

from __future__ import annotations


def reason(error: Exception) -> str:
    """Why a file cannot be read, for a message that names the file itself."""
    return getattr(error, "strerror", None) or str(error)


def said(error: Exception, place: object = "") -> str:
    """The same with the path of the file, which is `place` if the error has none; for a request, its reason."""
    why = getattr(error, "reason", error) if isinstance(error, OSError) else error
    if isinstance(why, OSError):
        return ": ".join(str(one) for one in (why.filename or place, reason(why)) if one)
    return str(why)
