"""Atomic file writes, and digests of what was read and of what is on the disk."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.artifacts.trouble import NoRoom, Unfit

if TYPE_CHECKING:
    from collections.abc import Generator

_MIB = 1 << 20
_PARTS = tuple(number * _MIB for number in (16, 8, 5, 64, 32, 10, 25, 50, 100, 128, 256, 512))
"""The usual part sizes of multipart uploads. Source: minio-go, which Argo uses, takes 16 MiB; aws-cli 8 MiB."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TAG = regex(r'"?([0-9a-f]{32})(?:-(\d+))?"?')


@contextmanager
def room(path: Path) -> Generator[None]:
    """Converts errors of the file system below a path to those of a fetch: NoRoom, Unfit."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise NoRoom(f"{path.parent} is full: {os.strerror(error.errno or 0)}") from None
        raise Unfit(f"{error.filename or path} cannot be written: {error.strerror}") from None


def write_all(file: int, data: bytes) -> None:
    """Write all of the bytes. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def save(path: Path, data: bytes, work: Path) -> None:
    """Write a file atomically, by way of a folder for incomplete files. Raises OSError."""
    part = work / f"{path.name}.part"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        write_all(file, data)
        os.fsync(file)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)
    move(part, path)


def move(source: Path, target: Path) -> None:
    """Rename, and sync the folder. Raises OSError."""
    source.rename(target)
    keep(target.parent)


def keep(folder: Path) -> None:
    """Sync the names in a folder to the disk, if the file system can. Raises OSError."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(file)


class Digest:
    """The SHA-256 of bytes as they arrive, and whether they match an ETag of S3.

    Source: the ETag of an object that was uploaded at once is its MD5, of one in parts the MD5 of the parts' and
    their number; of one that is encrypted with a customer's key or by KMS it is neither.
    """

    def __init__(self, size: int, tag: str) -> None:
        self._all = hashlib.sha256()
        matched = _TAG.fullmatch(tag)
        self._wanted = matched[0].strip('"') if matched else ""
        parts = int(matched[2] or 0) if matched else 0
        self.exact = bool(matched) and not parts
        fitting = [one for one in _PARTS if parts and -(-size // one) == parts]
        sizes = [max(size, 1)] if self.exact else fitting
        self._sums = [_Parts(one, bool(parts)) for one in sizes]

    def update(self, data: bytes) -> None:
        """Add more bytes."""
        self._all.update(data)
        for one in self._sums:
            one.update(data)

    @property
    def sha256(self) -> str:
        """The SHA-256 so far."""
        return self._all.hexdigest()

    @property
    def matches(self) -> bool:
        """Whether all bytes match the ETag."""
        return any(one.tag() == self._wanted for one in self._sums)


class _Parts:
    """The ETag of bytes that were uploaded in parts of equal size."""

    def __init__(self, size: int, parts: bool) -> None:
        self._size, self._parts = size, parts
        self._done: list[bytes] = []
        self._now: Any = hashlib.md5(usedforsecurity=False)
        self._have = 0

    def update(self, data: bytes) -> None:
        view = memoryview(data)
        while self._have + len(view) > self._size:
            cut = self._size - self._have
            self._now.update(view[:cut])
            self._done.append(self._now.digest())
            self._now, self._have, view = hashlib.md5(usedforsecurity=False), 0, view[cut:]
        self._now.update(view)
        self._have += len(view)

    def tag(self) -> str:
        if not self._parts:
            return str(self._now.hexdigest()) if not self._done else ""
        digests = [*self._done, self._now.digest()]
        return f"{hashlib.md5(b''.join(digests), usedforsecurity=False).hexdigest()}-{len(digests)}"


class Kept(NamedTuple):
    """A file or link below a target, or with an empty path the target itself."""

    path: str
    size: int
    sha256: str
    link: str = ""


class Content(NamedTuple):
    """The content of a target: the digest of all of it, and each file."""

    digest: str
    folder: bool
    files: list[Kept]


def content(path: Path) -> Content:
    """The content at a path. Raises OSError, and Unfit for what no fetch creates."""
    if not path.is_symlink() and path.is_dir():
        lines: list[str] = []
        files: list[Kept] = []
        for name, at in _below(path, ""):
            if at.is_symlink():
                files.append(Kept(name, 0, "", str(at.readlink())))
            elif at.is_dir():
                lines.append(f"folder\0{name}")
                continue
            else:
                files.append(_kept(name, at))
            last = files[-1]
            lines.append(f"{'link' if last.link else 'file'}\0{name}\0{last.sha256 or last.link}")
        return Content(
            hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest(), True, files
        )
    one = _kept("", path)
    return Content(one.sha256, False, [one])


def _below(folder: Path, above: str) -> Generator[tuple[str, Path], None, None]:
    for at in sorted(folder.iterdir()):
        name = f"{above}{at.name}"
        yield name, at
        if at.is_dir() and not at.is_symlink():
            yield from _below(at, f"{name}/")


def _kept(name: str, path: Path) -> Kept:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise Unfit(f"{path} is not a file")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Kept(name, found.st_size, digest)
