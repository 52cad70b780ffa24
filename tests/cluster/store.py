"""The artifact repository: an object store, and what Argo's executor does on the way in and out.

Source: loadArtifact and saveArtifact in workflow/executor/executor.go of Argo 4.1.2, and what a run showed.
"""

from __future__ import annotations

import gzip
import shutil
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

from tests.cluster.syntax import Unsupported
from tests.cluster.tags import ArgoError


class Artifact(NamedTuple):
    """Where an artifact is: an object or all below a key, or a text.

    `plain`: known not to be an archive; `optional`: it may be missing.
    """

    key: str = ""
    data: str | None = None
    plain: bool = False
    optional: bool = False

    def spec(self, name: str) -> dict[str, Any]:
        """The artifact as an argument names it."""
        plain: dict[str, Any] = {"archive": {"none": {}}} if self.plain else {}
        place = {"s3": {"key": self.key}} if self.data is None else {"raw": {"data": self.data}}
        return {"name": name, **place, **plain, "optional": self.optional}


def location(spec: dict[str, Any]) -> Artifact:
    """The place that an artifact of a template names."""
    plain = "archive" in spec
    if plain and spec["archive"] != {"none": {}}:
        raise Unsupported(f"archive {spec['archive']}")
    key = spec["s3"]["key"] if "s3" in spec else ""
    data = spec["raw"]["data"] if "raw" in spec else None
    return Artifact(key, data, plain, spec.get("optional", False))


class Clash(Exception):
    """A file would take the place of another: the real store would keep the last one, without a word."""


class Store:
    """Objects by key, each kept as a file in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.objects: dict[str, Path] = {}
        self._made = 0

    def put(self, key: str, source: Path) -> None:
        """Store a file under a key, or the files of a folder below it; nothing else of a folder is kept."""
        if source.is_dir():
            for path in sorted(source.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    self.put(f"{key}/{path.relative_to(source).as_posix()}", path)
            return
        shutil.copyfile(source, self._new(key))

    def put_archive(self, key: str, source: Path, name: str) -> None:
        """Store a file or folder as a compressed archive."""
        with tarfile.open(self._new(key), "w:gz", compresslevel=1) as archive:
            archive.add(source, name)

    def _new(self, key: str) -> Path:
        if key in self.objects:
            raise Clash(f"two files are stored under the key {key}")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._made += 1
        self.objects[key] = self.folder / str(self._made)
        return self.objects[key]

    def get(self, key: str, target: Path) -> bool:
        """Put an object, or all objects below a key, at a path; whether there is any."""
        if key in self.objects:
            shutil.copyfile(self.objects[key], target)
            return True
        below = {name: path for name, path in self.objects.items() if name.startswith(f"{key}/")}
        for name, path in below.items():
            file = target / name.removeprefix(f"{key}/")
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, file)
        return bool(below)

    def load(self, artifact: Artifact, target: Path, name: str) -> None:
        """Bring an input artifact to its path, unpacked unless it is known to be no archive.

        What has a place is mounted, so the kubelet makes an empty folder of an optional one that is not there.
        Source: addInputArtifactsVolumes in workflow/controller/workflowpod.go.
        """
        if artifact.data is None and not artifact.key:
            if not artifact.optional:
                raise ArgoError(f"required artifact '{name}' not supplied")
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if artifact.data is not None:
            target.write_text(artifact.data, encoding="utf-8", newline="")
            return
        arrived = target.with_name(f"{target.name}.tmp")
        if not self.get(artifact.key, arrived):
            if not artifact.optional:
                raise ArgoError(f"artifact {name} failed to load: the key {artifact.key} does not exist")
            target.mkdir()
        elif not artifact.plain and _is_archive(arrived):
            _unpack(arrived, target)
        else:
            arrived.rename(target)


def _is_archive(path: Path) -> bool:
    if path.is_dir():
        return False
    try:
        with tarfile.open(path, "r:gz") as archive:
            return archive.next() is not None
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, OSError):
        return False


def _unpack(path: Path, target: Path) -> None:
    folder = target.with_name(f"{target.name}.tmpdir")
    with tarfile.open(path, "r:gz") as archive:
        archive.extractall(folder, filter="fully_trusted")
    path.unlink()
    inside = list(folder.iterdir())
    if len(inside) == 1:
        inside[0].rename(target)
        folder.rmdir()
    else:
        folder.rename(target)
