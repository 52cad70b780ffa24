"""File locks: at most one process at a time holds a file."""

from __future__ import annotations

import fcntl


def take(file: int) -> bool:
    """Lock an open file until it is closed; returns whether nobody else had the lock.

    File systems mounted without locks, as Lustre and NFS often are, return an error: then nobody has it.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def wait_for(file: int) -> None:
    """Lock an open file as soon as nobody else has the lock."""
    fcntl.flock(file, fcntl.LOCK_EX)
