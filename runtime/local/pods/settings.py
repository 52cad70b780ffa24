"""The user's settings for a run on one machine, and the names of their values."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from flowdsl.grammar.named import NamedTuple

_NOTHING: Mapping[str, Path] = MappingProxyType({})
_NO_DATA: Mapping[str, Mapping[str, str]] = MappingProxyType({})


class Settings(NamedTuple):
    """The settings for the pods of one run.

    - `python`: the interpreter for steps that ask for python; its folder comes first in their PATH.
    - `mounts`: folders for persistent volume claims, by the name of the claim; a claim that is not here is a folder
      below `volumes` (by default `volumes` beside the folder of the run), which outlives the run.
    - `before`: the folders of the runs whose results this one reuses, the last one first.
    - `artifacts`: files and folders for input artifacts that no step of the run has produced, by their name or key.
    - `engine`: run the images with this program; None: no images, the programs of this machine.
    - `kubectl`: whether `resource` templates may change a cluster.
    - `config_maps`, `secrets`: their data, by name and key.
    - `namespace`, `workflow`, `uid`, `labels`: of the run, for pods that read them.
    - `archive_logs`: `archiveLogs` of the workflow.
    - `cpu` (cores), `memory` (bytes), `gpus`: the total that pods may request; None: what the machine has.
    - `isolate`: give each step a file system of its own; None: where the system allows it.
    - `grace`: seconds between TERM and KILL, in place of those of the pod, which are 30 by default; for tests.
    """

    python: str = sys.executable
    mounts: Mapping[str, Path] = _NOTHING
    volumes: Path | None = None
    before: Sequence[Path] = ()
    artifacts: Mapping[str, Path] = _NOTHING
    engine: Literal["docker", "podman"] | None = None
    kubectl: bool = False
    config_maps: Mapping[str, Mapping[str, str]] = _NO_DATA
    secrets: Mapping[str, Mapping[str, str]] = _NO_DATA
    namespace: str = "default"
    workflow: str = "workflow"
    uid: str = "00000000-0000-0000-0000-000000000000"
    labels: Mapping[str, str] = MappingProxyType({})
    archive_logs: bool = False
    cpu: float | None = None
    memory: int | None = None
    gpus: int | None = None
    isolate: bool | None = None
    grace: float | None = None


GIVE_CONFIG_MAP = "give it to the run: --config-map {name}=FILE"
GIVE_SECRET = "give it to the run: --secret {name}=FILE"
GIVE_ARTIFACT = "give it to the run: --artifact {name}=PATH"
GIVE_PROGRAM = (
    "Install it on this machine, run its image with --engine docker, or leave the step out with --fake."
)
GIVE_PYTHON = "What is mounted at {path} hides it: run the steps under one that is elsewhere, with --python."
GIVE_IMAGE = "name its command in the manifest, or run its image with --engine docker"
