"""Deletes runs on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.runner import going_on

_GONE = ".deleted"
"""The folder beside the runs to which one is moved first, so that no half-deleted run is ever seen."""


def delete(folder: Path) -> None:
    """Delete the folder of a run; of a link, the link. Raises RunError if it is running, or cannot be deleted."""
    if going_on(folder):
        raise RunError(f"the run {folder.name} is going on in another process: end it there, with Ctrl-C")
    try:
        if folder.is_symlink():
            folder.unlink()
            return
        gone = folder.parent / _GONE
        gone.mkdir(exist_ok=True)
        target = gone / f"{folder.name}.{os.getpid()}"
        folder.rename(target)
        _remove(gone)
    except OSError as error:
        stuck = folder if os.path.lexists(folder) else error.filename
        raise RunError(f"{stuck} cannot be deleted: {error.strerror}") from None


def _remove(folder: Path) -> None:
    """Remove a folder, including leftovers of an earlier attempt, and read-only files of steps."""
    for path, folders, _ in os.walk(folder):
        for inner in (Path(path, name) for name in folders):
            with contextlib.suppress(OSError):  # a folder that cannot be entered is reported by rmtree
                if not inner.is_symlink():
                    inner.chmod(0o700)
    shutil.rmtree(folder)
