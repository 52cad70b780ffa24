"""Writes and reads archives as Argo's executor does."""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from flowdsl.runtime.tar import extract, tarfile

MOST_MEMBERS = 10_000_000
_FOLDER = 0o755


class BadArchive(Exception):
    """An archive that cannot be written or read, or with a member outside of its folder."""


class IllegalLink(BadArchive):
    """A link that leads out of its archive."""


def pack_tar(source: Path, name: str, target: Path, level: int) -> None:
    """Write a file or folder as tar and gzip, under a name. Source: TarGzToWriter of Argo.

    `level`: of the compression; -1 is the default.
    """
    with (
        gzip.GzipFile(target, "wb", 6 if level < 0 else min(level, 9), mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT, bufsize=1 << 16) as archive,
    ):

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            if member.islnk():  # a hard link to a file that is already in the archive
                path = source / PurePosixPath(member.name).relative_to(name)
                member.type, member.linkname, member.size = tarfile.REGTYPE, "", path.stat().st_size
            return member

        archive.add(source, arcname=name, filter=plain)


def pack_zip(source: Path, name: str, target: Path) -> None:
    """Write a file or folder as zip, under a name. Source: ZipToWriter of Argo.

    As in Argo, modes are lost, so that no file stays executable; empty folders too, and links become empty files.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, called in _walked(source, PurePosixPath(name)):
            is_link = path.is_symlink()
            if not is_link and not path.is_file():
                continue
            made = zipfile.ZipInfo(str(called))
            made.compress_type = zipfile.ZIP_DEFLATED
            made.create_system = 0
            made.file_size = 0 if is_link else path.stat().st_size
            with archive.open(made, "w") as packed:
                if not is_link:
                    with path.open("rb") as file:
                        shutil.copyfileobj(file, packed, 1 << 20)
            made.external_attr = 0  # opening it has set a mode


def _walked(path: Path, name: PurePosixPath) -> Iterator[tuple[Path, PurePosixPath]]:
    """The files and links at a path and below it, in the order of Go's filepath.Walk; links are not followed."""
    if path.is_symlink() or not path.is_dir():
        yield path, name
        return
    for one in sorted(path.iterdir(), key=os.fsencode):
        yield from _walked(one, name / one.name)


def is_tar(path: Path) -> bool:
    """Whether a file of undeclared format is tar and gzip, by reading its start. Source: isTarball of Argo."""
    try:
        with gzip.open(path) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            return archive.next() is not None
    except (OSError, tarfile.TarError, EOFError, zlib.error):
        return False


def unpack_tar(source: Path, target: Path, *, lenient: bool = False) -> None:
    """Extract an archive: its only member becomes the target, several go into a folder. Raises BadArchive.

    Like untar of Argo: only files, folders and symbolic links, and all folders get the same mode.
    With `lenient`, links that lead out of the archive are left out.
    """
    beside = target.with_name(f"{target.name}.tmpdir")
    beside.mkdir(parents=True)
    try:
        with gzip.open(source) as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
            for count, member in enumerate(archive):
                if count > MOST_MEMBERS:
                    raise BadArchive(f"more than {MOST_MEMBERS} members")
                try:
                    _put(archive, member, beside)
                except (IllegalLink, tarfile.FilterError):
                    if not lenient:
                        raise
    except gzip.BadGzipFile:
        raise BadArchive("gzip: invalid header") from None
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise BadArchive(str(error)) from None
    settled(beside, target)


def _put(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Extract a member if it is a file, a folder or a symbolic link."""
    name = checked(member)
    if not (member.isreg() or member.isdir() or member.issym()):
        return
    extract(archive, member.replace(name=name, deep=False), folder)
    if member.isdir():
        (folder / name).chmod(_FOLDER)
    elif member.isreg():
        # Root in a container needs no permissions, the user here does.
        (folder / name).chmod(member.mode & 0o777 | 0o600)


def checked(member: tarfile.TarInfo) -> str:
    """The path of a member below the folder that it is extracted into. Raises BadArchive."""
    path = inside(f"{member.name}/" if member.isdir() else member.name)
    if member.issym():
        check_link(member.name, member.linkname, str(PurePosixPath(path).parent))
    return path


def inside(name: str) -> str:
    """The path of a member as in Argo: a leading root is dropped, and the folder itself is not a member."""
    path = os.path.normpath(f"./{name}")
    if path in (".", "..") or path.startswith("../") or "\0" in name:
        raise BadArchive(f"illegal file path: {name}")
    return path


def check_link(name: str, link: str, folder: str = "") -> None:
    """Refuse a link that leads out of its archive. Raises IllegalLink."""
    to = os.path.normpath(PurePosixPath(folder, link))
    if to in (".", "..") or to.startswith(("/", "../")):
        raise IllegalLink(f"illegal symlink target: {name} -> {link}")


def check_links(source: Path, name: str) -> None:
    """Refuse a folder with a link that leads out of it: Argo packs and unpacks it first. Raises IllegalLink."""
    for folder, folders, files in os.walk(source):
        within = PurePosixPath(name, Path(folder).relative_to(source).as_posix())
        for one in sorted([*folders, *files]):
            path = Path(folder, one)
            if path.is_symlink():
                check_link(str(within / one), str(path.readlink()), str(within))


def unpack_zip(source: Path, target: Path) -> None:
    """Extract a zip archive in the same way. Raises BadArchive."""
    beside = target.with_name(f"{target.name}.tmpdir")
    beside.mkdir(parents=True)
    try:
        with zipfile.ZipFile(source) as archive:
            for one in archive.infolist():
                inside(one.filename)
                made = Path(archive.extract(one, beside))
                mode = stat.S_IMODE(one.external_attr >> 16)
                if mode and not made.is_dir():
                    made.chmod(mode | stat.S_IRUSR | stat.S_IWUSR)
    except zipfile.BadZipFile:
        raise BadArchive("zip: not a valid zip file") from None
    except (zlib.error, EOFError) as error:
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
