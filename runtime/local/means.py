"""What the user provides for a run on this machine: folders for claims, files, and the cache for them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.digest import digest
from flowdsl.runtime.documents import claims
from flowdsl.runtime.local import FOLDER
from flowdsl.runtime.local.places import claim_folder
from flowdsl.runtime.parts import name_of, part, several

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.runtime.local.pods.settings import Settings

Json = dict[str, Any]


def claim_of(manifest: Json, name: str) -> str:
    """The claim that a name refers to: the claim itself, or that of the workflow's volume with this name."""
    known = claims(several(part(manifest, "spec"), "volumes"))
    return name if name in known.values() else known.get(name, name)


def volumes_of(manifest: Json, mounts: Mapping[str, Path], shared: Path, folder: Path) -> dict[str, Path]:
    """The folders of the claims of a run in `folder`, by the names of its volumes in the manifest."""
    spec, run = part(manifest, "spec"), name_of(manifest)
    new = (name_of(one) for one in several(spec, "volumeClaimTemplates"))
    known = {**claims(several(spec, "volumes")), **{name: f"{run}-{name}" for name in new}}
    return {
        name: mounts.get(claim) or claim_folder(claim, run, folder, shared) for name, claim in known.items()
    }


def of_workflow(settings: Settings, manifest: Json) -> Settings:
    """The user's settings, with those of the workflow."""
    metadata, spec = part(manifest, "metadata"), part(manifest, "spec")
    return settings._replace(
        namespace=str(metadata.get("namespace") or "default"),
        workflow=str(metadata["name"]),
        labels=part(metadata, "labels"),
        archive_logs=bool(spec.get("archiveLogs")),
    )


def cache_of(folder: Path, artifacts: Mapping[str, Path]) -> Path:
    """The folder for the caches of a run: separate for each set of artifact files, whose keys tell only their path."""
    if not artifacts:
        return folder
    seen = [found for name, path in sorted(artifacts.items()) for found in (name, *_stats(path.resolve()))]
    return folder / f"with-{digest(*seen)[:16]}"


def _stats(path: Path) -> Iterator[str]:
    """A file, or the files in a folder without runs, each with its size and modification time."""
    files = [path]
    for at, folders, names in os.walk(path):
        folders[:] = sorted(one for one in folders if one != FOLDER)
        files += [Path(at, name) for name in sorted(names)]
    for one in files:
        with suppress(OSError):  # it was deleted meanwhile
            found = one.stat()
            if S_ISREG(found.st_mode):
                yield f"{one} {found.st_size} {found.st_mtime_ns}"
