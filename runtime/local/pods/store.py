"""The artifact store of a run: a folder in place of a bucket, with a file for each object.

Objects are stored atomically. A key cannot lead out of the folder. Source of what is lost: the S3 driver of Argo stores
bytes; modes, links and empty folders do not survive `archive: none`.
"""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path
from typing import Any

from flowdsl.compiler.kinds import STORES
from flowdsl.runtime.artifacts.paths import LONGEST_NAME
from flowdsl.runtime.local import FOLDER
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.parts import part

Json = dict[str, Any]


class BadKey(RunError):
    """A key that cannot be a path."""


def parts_of(key: str) -> list[str]:
    """The names that a key leads by. Object stores tell `/a//b` from `a/b`; a folder does not."""
    return [one for one in key.split("/") if one]


def stored_at(folder: Path, key: str) -> Path:
    """The path of a key in the folder of a store. Raises BadKey."""
    parts = parts_of(key)
    if not parts or any(
        one in (".", "..") or "\0" in one or len(os.fsencode(one)) > LONGEST_NAME for one in parts
    ):
        raise BadKey(f"the key {key!r} cannot be the name of a file")
    return folder.joinpath(*parts)


class Store:
    """The stored objects of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.numbers = itertools.count()

    def path(self, key: str) -> Path:
        """The path of a key. Raises BadKey."""
        return stored_at(self.folder, key)

    def part(self) -> Path:
        """A new path beside the objects, for a file that is not complete yet."""
        folder = self.folder.with_name(f"{self.folder.name}.part")
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{os.getpid()}-{next(self.numbers)}"

    def put(self, key: str, source: Path) -> None:
        """Store a file, or each file of a folder, of which only the bytes are kept. Raises BadKey, OSError.

        An empty folder has no object; the folder at its key says that nothing of it was lost.
        """
        if not source.is_dir():
            made = self.part()
            shutil.copyfile(source, made)
            self.take(key, made)
            return
        if parts_of(key):
            self.path(key).mkdir(parents=True, exist_ok=True)
        for folder, names, files in os.walk(source):
            names[:] = [one for one in names if one != FOLDER and not Path(folder, one).is_symlink()]
            for name in files:
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink():
                    self.put(f"{key}/{path.relative_to(source).as_posix()}", path)

    def take(self, key: str, made: Path) -> None:
        """Move a complete file to its key, on the same file system (see `part`). Raises BadKey, OSError."""
        target = self.path(key)
        target.parent.mkdir(parents=True, exist_ok=True)
        made.replace(target)

    def get(self, key: str, target: Path) -> bool:
        """Copy an object, or the folder of all objects below the key, to a path; returns whether there is one."""
        found = self.path(key)
        there = found.is_file() or any(files for _, _, files in os.walk(found))
        return there and copied(found, target)

    def keys(self, prefix: str) -> list[str]:
        """The keys equal to a prefix, or below it, in the order in which object stores list them."""
        found = self.path(prefix) if parts_of(prefix) else self.folder
        below = (Path(folder, name) for folder, _, names in os.walk(found) for name in names)
        files = [found] if found.is_file() else below
        return sorted(file.relative_to(self.folder).as_posix() for file in files)


def copied(found: Path, target: Path) -> bool:
    """Copy a file or folder, without the runs that are stored in it; returns whether it exists."""
    if found.is_dir():
        # The copy lies in the folder of a run: a folder that holds this one would be copied into itself.
        shutil.copytree(found, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(FOLDER))
    elif found.is_file():
        shutil.copyfile(found, target)
    else:
        return False
    return True


def copied_whole(found: Path, target: Path) -> None:
    """Copy a file or folder atomically to a path that does not exist, if the source exists."""
    if target.exists() or not found.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.{os.getpid()}")
    if found.is_dir():
        shutil.copytree(found, new, symlinks=True)
    else:
        shutil.copy2(found, new)
    new.replace(target)


def place(artifact: Json) -> tuple[str, str]:
    """The kind of store that an artifact names, and its key there; empty texts for none."""
    for kind, name in STORES.items():
        if kind in artifact:
            return kind, key_of(kind, str(part(artifact, kind).get(name) or ""))
    return "", ""


def key_of(kind: str, text: str) -> str:
    """The key here of what a kind of store names by a key, an address or an absolute path."""
    if kind in ("hdfs", "artifactory"):
        return text.partition("://")[2] or text.lstrip("/")
    return text
