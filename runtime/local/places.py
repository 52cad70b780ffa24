"""The layout of a run's files on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local.pods.store import BadKey, place, stored_at
from flowdsl.runtime.names import on_volume
from flowdsl.runtime.parts import part, several

Json = dict[str, Any]


def file_of(artifact: Json, folder: Path) -> Path | None:
    """The stored file or folder of an artifact in the folder of the run."""
    return _there(folder, place(artifact)[1])


def claim_folder(claim: str, run: str, folder: Path, shared: Path) -> Path:
    """The folder of a claim without a mount: in that of the run if its name says that the run made it, else shared."""
    return (folder / "volumes" if claim.startswith(f"{run}-") else shared) / claim


def below(volumes: Mapping[str, Path], text: str) -> Path | None:
    """The file at a path on a volume, given the folders of volumes by name; None for any other text."""
    name, path = on_volume(text) or ("", "")
    return volumes[name] / path if name in volumes else None


class Files(NamedTuple):
    """Finds files in the folder of a run, and in the folders of volumes, by the keys and paths in its outputs."""

    folder: Path
    volumes: Mapping[str, Path]

    def of_text(self, text: str) -> Path | None:
        """The file that a key, or a path on a volume, refers to; None for any other text."""
        if "/" not in text:
            return None
        found = below(self.volumes, text)
        if found is None:
            return _there(self.folder, text)
        # `Path.exists` raises for a text that no file system allows as a name.
        return found if os.path.exists(found) else None  # noqa: PTH110


def _there(folder: Path, key: str) -> Path | None:
    """The path of a key in the folder of the run, if there is a file or folder."""
    try:
        found = stored_at(folder / "artifacts", key)
        return found if found.exists() else None
    except (BadKey, OSError):
        return None


def linked(source: Path, target: Path) -> None:
    """Hard-link a file, or the files of a folder: stored files are never written again."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, copy_function=link)
    else:
        link(str(source), str(target))


def link(source: str, target: str) -> None:
    """Create a hard link, or a copy if the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def handed(outputs: Json, source: Path, target: Path) -> bool:
    """Link the files of a step's outputs into another folder of artifacts; returns whether all existed."""
    for artifact in several(outputs, "artifacts"):
        if not place(artifact)[1]:
            continue
        found = file_of(artifact, source)
        if found is None:
            return False
        linked(found, target / found.relative_to(source))
    return True


def unpacked(artifact: Json, folder: Path) -> Path | None:
    """The file or folder that a step returned, unpacked if it was archived, below `outputs` of the run.

    Links that lead out of the archive are left out: Argo packs them, and refuses them when they are passed on.
    """
    from flowdsl.runtime.local.pods.archive import is_tar, unpack_tar, unpack_zip

    path = file_of(artifact, folder)
    archive = part(artifact, "archive")
    if path is None or "none" in archive or path.is_dir():
        return path
    packed = "zip" in archive or is_tar(path)
    if not packed:
        return path
    target = folder / "outputs" / path.relative_to(folder / "artifacts").with_suffix("")
    if not target.exists():
        new = target.with_name(f".{target.name}.{os.getpid()}")
        shutil.rmtree(new, ignore_errors=True)
        new.parent.mkdir(parents=True, exist_ok=True)
        if "zip" in archive:
            unpack_zip(path, new)
        else:
            unpack_tar(path, new, lenient=True)
        new.replace(target)
    return target
