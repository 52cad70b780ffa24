"""Archives as Argo's executor writes and reads them."""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from flowdsl.runtime.tar import extract, tarfile

MOST_MEMBERS = 10_000_000

_FILE = 0x20
"""Of MS-DOS: a file that may be written."""


class BadArchive(Exception):
    """An archive that cannot be read, or that reaches out of its folder."""


class IllegalLink(BadArchive):
    """A link that leads out of its archive."""


def pack_tar(source: Path, name: str, target: Path, level: int) -> None:
    """Write a file or folder as tar and gzip, under a name. Source: TarGzToWriter of Argo.

    `level`: of the compression, -1 is the usual one.
    """
    with (
        gzip.GzipFile(target, "wb", 6 if level < 0 else min(level, 9), mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT, bufsize=1 << 16) as archive,
    ):

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            if member.islnk():  # a second name for a file that is in the archive already
                path = source / PurePosixPath(member.name).relative_to(name)
                member.type, member.linkname, member.size = tarfile.REGTYPE, "", path.stat().st_size
            return member

        archive.add(source, arcname=name, filter=plain)


def pack_zip(source: Path, name: str, target: Path) -> None:
    """Write a file or folder as zip, under a name; without modes, as Argo does, so that no program stays one."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        if source.is_dir():
            for folder, folders, files in os.walk(source):
                folders.sort()
                for one in sorted(files):
                    path = Path(folder, one)
                    if path.is_file():
                        _add(archive, path, PurePosixPath(name, path.relative_to(source).as_posix()))
        else:
            _add(archive, source, PurePosixPath(name))


def _add(archive: zipfile.ZipFile, source: Path, name: PurePosixPath) -> None:
    made = zipfile.ZipInfo(str(name))
    made.compress_type = zipfile.ZIP_DEFLATED
    made.create_system = 0
    made.external_attr = _FILE
    made.file_size = source.stat().st_size
    with source.open("rb") as file, archive.open(made, "w") as packed:
        shutil.copyfileobj(file, packed, 1 << 20)


def is_tar(path: Path) -> bool:
    """Whether this is tar and gzip: an archive that says not what it is, is tried. Source: isTarball of Argo."""
    try:
        with gzip.open(path) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            return archive.next() is not None
    except (OSError, tarfile.TarError, EOFError, zlib.error):
        return False


def unpack_tar(source: Path, target: Path, *, lenient: bool = False) -> None:
    """Extract an archive: what is alone in it becomes the target, else the target is a folder. Raises BadArchive.

    Devices and pipes are left out, as by Argo; with `lenient`, links that lead out of the archive are, too.
    """
    beside = target.with_name(f"{target.name}.tmpdir")
    beside.mkdir(parents=True)
    try:
        with gzip.open(source) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            for count, member in enumerate(archive):
                if count > MOST_MEMBERS:
                    raise BadArchive(f"more than {MOST_MEMBERS} members")
                try:
                    checked(member)
                    if member.isreg() or member.isdir() or member.issym() or member.islnk():
                        extract(archive, member, beside)
                except (IllegalLink, tarfile.FilterError):
                    if not lenient:
                        raise
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadArchive(str(error)) from None
    settled(beside, target)


def checked(member: tarfile.TarInfo) -> None:
    """Refuse a member, or a link, that leads out of the archive. Raises BadArchive."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or "\0" in member.name:
        raise BadArchive(f"illegal file path: {member.name}")
    if member.issym() or member.islnk():
        _inside(member.name, member.linkname, path.parent if member.issym() else PurePosixPath())


def _inside(name: str, link: str, folder: PurePosixPath) -> None:
    to = os.path.normpath(folder / link)
    if to.startswith(("/", "../")) or to == "..":
        raise IllegalLink(f"illegal symlink target: {name} -> {link}")


def check_links(source: Path, name: str) -> None:
    """Refuse a folder with a link that leads out of it: Argo packs and unpacks it first. Raises IllegalLink."""
    for folder, folders, files in os.walk(source):
        within = PurePosixPath(name, Path(folder).relative_to(source).as_posix())
        for one in sorted([*folders, *files]):
            path = Path(folder, one)
            if path.is_symlink():
                _inside(str(within / one), str(path.readlink()), within)


def unpack_zip(source: Path, target: Path) -> None:
    """Extract a zip archive likewise. Raises BadArchive."""
    beside = target.with_name(f"{target.name}.tmpdir")
    beside.mkdir(parents=True)
    try:
        with zipfile.ZipFile(source) as archive:
            for one in archive.infolist():
                path = PurePosixPath(one.filename)
                if path.is_absolute() or ".." in path.parts:
                    raise BadArchive(f"illegal file path: {one.filename}")
                made = Path(archive.extract(one, beside))
                mode = stat.S_IMODE(one.external_attr >> 16)
                if mode and not made.is_dir():
                    made.chmod(mode | stat.S_IRUSR | stat.S_IWUSR)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise BadArchive(str(error)) from None
    settled(beside, target)


def settled(beside: Path, target: Path) -> None:
    """Move what was extracted to its place."""
    found = list(beside.iterdir())
    if len(found) == 1:
        found[0].rename(target)
        shutil.rmtree(beside)
    else:
        beside.rename(target)
