"""What a run has on this machine: folders for its claims, files for its artifacts, data, programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.shapes import part, several

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Json = dict[str, Any]


class Means(NamedTuple):
    """The interpreter of Python steps, the folder of claims that no folder is named for, and what is named."""

    python: str
    volumes: Path
    mounts: Mapping[str, Path] = {}
    artifacts: Mapping[str, Path] = {}
    config_maps: Mapping[str, Mapping[str, str]] = {}
    secrets: Mapping[str, Mapping[str, str]] = {}
    engine: str | None = None
    kubectl: bool = False


def volumes_of(manifest: Json, mounts: Mapping[str, Path], shared: Path, folder: Path) -> dict[str, Path]:
    """The folders of the claims of a run in `folder`, by the names that the manifest has for its volumes."""
    spec = part(manifest, "spec")
    found: dict[str, Path] = {}
    for one in several(spec, "volumes"):
        claim = part(one, "persistentVolumeClaim").get("claimName")
        if claim:
            found[one["name"]] = mounts.get(str(claim), shared / str(claim))
    for one in several(spec, "volumeClaimTemplates"):
        name = str(part(one, "metadata").get("name", ""))
        found[name] = folder / "volumes" / f"{part(manifest, 'metadata')['name']}-{name}"
    return found


def settings_of(manifest: Json, means: Means) -> Settings:
    """How the pods of a workflow are executed."""
    metadata, spec = part(manifest, "metadata"), part(manifest, "spec")
    return Settings(
        python=means.python,
        mounts=means.mounts,
        volumes=means.volumes,
        artifacts=means.artifacts,
        engine="docker" if means.engine == "docker" else "podman" if means.engine else None,
        kubectl=means.kubectl,
        config_maps=means.config_maps,
        secrets=means.secrets,
        namespace=str(metadata.get("namespace") or "default"),
        workflow=str(metadata["name"]),
        labels=part(metadata, "labels"),
        archive_logs=bool(spec.get("archiveLogs")),
    )
