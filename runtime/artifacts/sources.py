"""The interface of stores: what is there, and its bytes from an offset on. Texts, and files of this machine."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.artifacts.trouble import Changed, Missing, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 20
"""The buffer size in bytes."""


NO_FILE = "/dev/null"
"""The link target that represents a device, a pipe or a socket: such a link is refused."""


class Entry(NamedTuple):
    """A file of a piece: its path in it, empty for the piece itself. `link`: the target of a symbolic link."""

    path: str
    size: int
    tag: str = ""
    """A text that changes when the content does; the ETag if the store has one."""
    link: str = ""


class Source(Protocol):
    """A piece in its store. Thread-safe."""

    digests: bool
    """Whether the tags may be MD5 digests, as those of S3 are."""

    def entries(self) -> list[Entry]:
        """Its files, sorted by path. Raises Missing, Unfit, StoreError."""
        ...

    def read(self, entry: Entry, offset: int) -> Iterator[bytes]:
        """The bytes of a file, from an offset smaller than its size. Raises Changed, Missing, StoreError, Broken."""
        ...


class Text:
    """A raw artifact, whose text is in the workflow."""

    digests = False

    def __init__(self, text: str) -> None:
        self._data = text.encode()

    def entries(self) -> list[Entry]:
        """The text."""
        return [Entry("", len(self._data), hashlib.sha256(self._data).hexdigest())]

    def read(self, entry: Entry, offset: int) -> Iterator[bytes]:
        """Its bytes."""
        yield self._data[offset:]


class Local:
    """A file or folder of this machine: of a local run, or on a mounted volume."""

    digests = False

    def __init__(self, root: Path, key: str) -> None:
        self._root = root
        self._path = root / key

    def entries(self) -> list[Entry]:
        """The files and symbolic links."""
        top = self._path
        try:
            if not top.resolve().is_relative_to(self._root.resolve()):
                raise Missing(f"{top} leads out of {self._root}")
            found = top.stat()
            if not stat.S_ISDIR(found.st_mode):
                return [_entry("", top, found)]
            return sorted(_walk(top, ""))
        except FileNotFoundError:
            raise Missing(f"there is no {top}") from None
        except OSError as error:
            raise StoreError(f"{error.filename} cannot be read: {error.strerror}") from None

    def read(self, entry: Entry, offset: int) -> Iterator[bytes]:
        """The bytes of the file that was listed."""
        path = self._path / entry.path if entry.path else self._path
        try:
            with path.open("rb") as file:
                if _entry(entry.path, path, os.fstat(file.fileno())) != entry:
                    raise Changed(f"{path} has changed")
                file.seek(offset)
                while block := file.read(BLOCK):
                    yield block
        except FileNotFoundError:
            raise Missing(f"there is no {path}") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}") from None


def _entry(path: str, at: Path, found: os.stat_result) -> Entry:
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{at} is neither a file nor a folder")
    return Entry(path, found.st_size, f"{found.st_mtime_ns:x}-{found.st_size:x}-{found.st_ino:x}")


def _walk(folder: Path, above: str) -> Iterator[Entry]:
    for one in folder.iterdir():
        path = f"{above}{one.name}"
        if one.is_symlink():
            yield Entry(path, 0, link=str(one.readlink()))
        elif one.is_dir():
            yield from _walk(one, f"{path}/")
        else:
            found = one.lstat()
            regular = stat.S_ISREG(found.st_mode)
            yield _entry(path, one, found) if regular else Entry(path, 0, link=NO_FILE)
