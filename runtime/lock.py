"""File locks: at most one process at a time holds a file."""

from __future__ import annotations

import fcntl


def take(file: int) -> bool:
    """Take hold of an open file, until it is closed; whether nobody else had it.

    File systems that are mounted without locks, as Lustre and NFS often are, answer with an error: nobody has it.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def wait_for(file: int) -> None:
    """Take hold of an open file as soon as nobody else has it."""
    fcntl.flock(file, fcntl.LOCK_EX)
