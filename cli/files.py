"""Writes the files of commands, atomically and only when their content changes; formats paths for display."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

from flowdsl.cli.process import Refused, note, out


def save(text: str, path: Path) -> bool:
    """Write a text as UTF-8; returns whether that was necessary.

    The new content replaces the old in one rename, so that a reader never sees half of it. A file keeps its mode
    and a link its target. What is no regular file (`/dev/stdout`) is written directly. Raises `Refused`, also for
    a Python file: it is somebody's work, as in `compile -o *.py`.
    """
    data = text.encode("utf-8")
    try:
        before = _status(path)
        if before is not None and stat.S_ISDIR(before.st_mode):
            raise Refused(f"{path} is a folder: name a file in it, as {path / 'pipeline.yaml'}")
        if before is not None and not stat.S_ISREG(before.st_mode):
            path.write_bytes(data)
            return True
        if before is not None and before.st_size == len(data) and path.read_bytes() == data:
            return False
        target = Path(os.path.realpath(path))
        if before is None and not target.parent.exists():
            raise Refused(f"{path} cannot be written: there is no folder {path.parent}")
        if before is not None and target.suffix == ".py":
            raise Refused(f"{path} is Python, which is not overwritten: name another file to write")
        if before is not None:
            target.open("ab").close()  # a file that is protected is not replaced
        _replace(target, data, 0o666 & ~_umask() if before is None else stat.S_IMODE(before.st_mode))
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}") from error
    return True


def give(text: str, path: Path | None) -> None:
    """Write a text to a file, or without one to standard output. Raises `Refused`."""
    if path is None:
        out(text)
    else:
        save(text, path)


def difference(text: str, path: Path) -> str:
    """The changes that writing would make to a file, as a unified diff; empty if none. Raises `Refused`."""
    try:
        before = None if _status(path) is None else path.read_bytes()
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from error
    if before == text.encode("utf-8"):
        return ""
    old = "" if before is None else before.decode("utf-8", "backslashreplace")
    if old.replace("\r\n", "\n") == text:  # as Git on Windows makes it, and a diff does not show
        note(f"the lines of {path} end in CRLF, not in LF; `*.yaml text eol=lf` in .gitattributes keeps them")
    return changes(old, text, os.devnull if before is None else str(path), str(path), "committed", "compiled")


def changes(before: str, after: str, name: str, new_name: str, date: str = "", new_date: str = "") -> str:
    """The differences between two texts, as a unified diff; empty if they are equal."""
    import difflib

    found = difflib.unified_diff(_lines(before), _lines(after), name, new_name, date, new_date)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found
    )


def shown(path: Path | str) -> str:
    """The short form of a path: relative if it is below the current folder."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def same(one: Path, two: Path) -> bool:
    """Whether two paths refer to the same existing file."""
    try:
        return one.samefile(two)
    except OSError:
        return False


def _lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    return list(io.StringIO(text, newline="\n"))


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _replace(target: Path, data: bytes, mode: int) -> None:
    import tempfile

    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".flowdsl.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(mode)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
