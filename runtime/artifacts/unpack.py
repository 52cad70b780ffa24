"""Unpacks untrusted archives safely: no member can write outside of its folder.

An archive is unpacked completely, into a new folder, or not at all. Each member is checked here and then by the `data`
filter of Python, since each of the two has been circumvented alone: PEP 706, CVE-2025-4517 and related ones.
"""

from __future__ import annotations

import gzip
import os
import stat
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.artifacts.disk import write_all
from flowdsl.runtime.artifacts.paths import Names, fault, link_fault
from flowdsl.runtime.artifacts.sources import BLOCK
from flowdsl.runtime.artifacts.trouble import Unfit
from flowdsl.runtime.tar import extract, tarfile

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAID = 20
"""The most members that are named when an archive is refused."""
_HEADERS = 1 << 20
"""The most bytes of the headers of one member: long names are read into memory."""
_OF_ARGO = ("/tmp/argo/outputs/artifacts/", "/mainctrfs/")
"""Folders of the wait container: it stores a single file in a zip archive under its whole path."""
_GZIP = b"\x1f\x8b"
_TAR_MAGIC = slice(257, 262)
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    NotImplementedError,  # a zip of a newer kind
    zlib.error,
    EOFError,
    gzip.BadGzipFile,
    ValueError,
)


class Limits(NamedTuple):
    """Limits of an archive's content. `ratio`: of its content to its own size, above `modest` bytes; 0 for any."""

    size: int = 64 << 30
    members: int = 200_000
    ratio: int = 200
    modest: int = 1 << 30


class _Gauge:
    """Counts what has been extracted from an archive, against the limits."""

    def __init__(self, limits: Limits, packed: int) -> None:
        self._limits, self._packed = limits, packed
        self.size = 0

    def add(self, size: int) -> None:
        """Count more bytes. Raises Unfit."""
        self.size += size
        self.check(self.size)

    def check(self, size: int) -> None:
        """Raises Unfit when so many bytes are too many."""
        limits = self._limits
        if size > limits.size:
            raise Unfit(f"it unpacks to more than {limits.size} bytes: --max-size allows more")
        if limits.ratio and size > limits.modest and size > limits.ratio * self._packed:
            raise Unfit(
                f"it unpacks to more than {limits.ratio} times its size, as archives made to fill disks do:"
                " --max-size allows it"
            )

    def members(self, number: int) -> None:
        """Raises Unfit when there are too many."""
        if number > self._limits.members:
            raise Unfit(f"it has more than {self._limits.members} members")


def form(path: Path, said: str) -> str:
    """How a file is packed: `tar`, `zip` or `none`; without a declaration the file is inspected, as Argo does."""
    if said in ("none", "zip"):
        return said
    try:
        with path.open("rb") as file:
            start = file.read(512)
        if start.startswith(_GZIP):
            with gzip.open(path) as packed:
                start = packed.read(512)
    except (OSError, EOFError, zlib.error):
        return "tar" if said == "tar" else "none"
    empty = len(start) == 512 and not start.strip(b"\0")
    return "tar" if said == "tar" or start[_TAR_MAGIC] == b"ustar" or empty else "none"


def unpack(source: Path, folder: Path, kind: str, limits: Limits) -> Path:
    """Unpack a `tar` or `zip` into a new folder; returns its only member, or the folder.

    Raises Unfit, and OSError of the file system.
    """
    folder.mkdir()
    gauge = _Gauge(limits, source.stat().st_size)
    try:
        faults = list((_zip if kind == "zip" else _tar)(source, folder, gauge))
    except _BROKEN as error:
        raise Unfit(f"it is not a valid archive: {_text(error)}") from None
    if faults:
        more = [f"and {len(faults) - _SAID} members more"] if len(faults) > _SAID else []
        raise Unfit(*faults[:_SAID], *more)
    _sealed(folder)
    found = list(folder.iterdir())
    return found[0] if len(found) == 1 and not found[0].is_symlink() else folder


def _text(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class _Bounded:
    """The content of an archive as a stream that raises Unfit beyond the limits."""

    def __init__(self, file: IO[bytes], gauge: _Gauge) -> None:
        self._file, self._gauge = file, gauge
        self.until = 2 * _HEADERS

    def read(self, size: int) -> bytes:
        """Read bytes."""
        found = self._file.read(size)
        self._gauge.add(len(found))
        if self._gauge.size > self.until:
            raise Unfit(f"the headers of a member are longer than {_HEADERS} bytes")
        return found


def _tar(source: Path, folder: Path, gauge: _Gauge) -> Iterator[str]:
    """Extract; returns what is wrong with each bad member."""
    with source.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        file = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw
        stream = _Bounded(file, gauge)
        names = Names()
        declared = number = 0
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|", bufsize=BLOCK // 16) as archive:
            while (member := archive.next()) is not None:
                cast("Any", archive).members = []  # tarfile keeps them, though they are not used
                number += 1
                gauge.members(number)
                declared += member.size if member.isreg() else 0
                gauge.check(declared)  # a sparse file is larger than its stored data
                stream.until = archive.offset + 2 * _HEADERS
                path = member.name.removeprefix("./").rstrip("/")
                if path in ("", ".") and member.isdir():
                    continue
                why = _member_fault(member, path, names)
                if why:
                    yield f"`{member.name}`: {why}"
                    continue
                try:
                    extract(archive, member.replace(name=path, deep=False), folder)
                except tarfile.FilterError as error:
                    yield f"`{member.name}`: {_text(error)}"
        stream.until = sys.maxsize
        while stream.read(BLOCK):
            pass  # the checksum of gzip comes at the end


def _member_fault(member: tarfile.TarInfo, path: str, names: Names) -> str:
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        return "it is a device or a pipe"
    why = fault(path)
    if why:
        return why
    if member.issym():
        why = link_fault(path, member.linkname)
    elif member.islnk():
        to = member.linkname.removeprefix("./")
        why = fault(to) or ("" if names.file(to) else "it leads to something that is not a file before it")
        member.linkname = to
    return why or names.add(path, "folder" if member.isdir() else "link" if member.issym() else "file")


def _zip(source: Path, folder: Path, gauge: _Gauge) -> Iterator[str]:
    """Extract; returns what is wrong with each bad member. Times, owners and links are not restored."""
    names = Names()
    with zipfile.ZipFile(source) as archive:
        members = archive.infolist()
        gauge.members(len(members))
        for one in members:
            path = one.orig_filename.removeprefix("./")
            if len(members) == 1 and path.startswith(_OF_ARGO):
                path = path.rpartition("/")[2]
            is_folder = path.endswith("/")
            path = path.rstrip("/")
            why = _zip_fault(one, path) or names.add(path, "folder" if is_folder else "file")
            target = folder / path
            if not why and is_folder:
                target.mkdir(parents=True, exist_ok=True)
            elif not why:
                target.parent.mkdir(parents=True, exist_ok=True)
                why = _unzip(archive, one, target, gauge)
            if why:
                yield f"`{one.orig_filename}`: {why}"


def _zip_fault(member: zipfile.ZipInfo, path: str) -> str:
    """Why a member of an archive is not extracted to a path; empty if it is."""
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "it is a link, a device or a pipe"
    if member.header_offset < 0:
        return "it begins before its archive"
    return "it is encrypted" if member.flag_bits & 1 else fault(path)


def _unzip(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, gauge: _Gauge) -> str:
    """Extract a member to a new file; returns why that is impossible, or nothing."""
    try:
        content = archive.open(member)
    except (NotImplementedError, RuntimeError) as error:
        return _text(error)
    mode = 0o777 if member.external_attr >> 16 & stat.S_IXUSR else 0o666
    with content:
        out = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        try:
            while block := content.read(BLOCK):
                gauge.add(len(block))
                write_all(out, block)
        finally:
            os.close(out)
    return ""


def _sealed(folder: Path) -> None:
    """Sync everything to the disk; a link that leads out nevertheless is refused."""
    root = os.path.realpath(folder)
    for at, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(at, name)
            if path.is_symlink():
                if not f"{os.path.realpath(path)}/".startswith(f"{root}/"):
                    raise Unfit(f"the link `{path.relative_to(folder)}` leads out of the folder")
            elif name in files:
                flags = os.O_RDONLY | os.O_NOFOLLOW
                file = os.open(path, flags)
                try:
                    os.fsync(file)
                finally:
                    os.close(file)
