"""Finds earlier runs on this machine, and what they were started with."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.documents import base_of, workflow_spec
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.journal import FILE, Inputs, of_run, read
from flowdsl.runtime.local.runner import going_on
from flowdsl.runtime.local.status import STATE
from flowdsl.runtime.names import LATEST, meant, of_pipeline
from flowdsl.runtime.parts import name_of, part, several
from flowdsl.runtime.phases import PENDING
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

_SHOWN = 5


def existing(runs: Path, name: str) -> Path:
    """The folder of a run by its name, or of the last run. Raises RunError."""
    if name == LATEST and (known := newest_first(runs, whole=True)):
        return known[0]
    folder = runs / name
    if "/" not in name and of_run(folder).exists():
        return folder
    names = [one.name for one in newest_first(runs, whole=True)]
    names = of_pipeline(name, names) or names
    last = f"the last ones are {', '.join(names[:_SHOWN])}"
    more = f"; {meant(name, [*names, LATEST], last)}" if names else ""
    raise RunError(f"there is no run `{name}` in {runs}{more}")


def newest_first(runs: Path, *, whole: bool = False) -> list[Path]:
    """The folders of all runs, without those that cannot be entered; of `whole` ones, those with a journal."""
    found = (path for path in runs.glob("*") if is_run(path, whole=whole))
    return sorted(found, key=begun, reverse=True)


def is_run(folder: Path, *, whole: bool = False) -> bool:
    """Whether a folder has the journal of a run, or at least its last state; not if it cannot be entered."""
    files = (FILE,) if whole else (STATE, FILE)
    return any(os.path.isfile(folder / one) for one in files)  # noqa: PTH113 -- Path.is_file raises


def state(folder: Path) -> Json:
    """The Workflow of a run as it was last written; of a run that was killed before that, as it was requested.

    Raises OSError, and ValueError if it cannot be read.
    """
    try:
        found: Json = json.loads((folder / STATE).read_bytes())
    except FileNotFoundError:
        if not of_run(folder).exists():
            raise
        found = _requested(folder)
    if not name_of(found):
        raise ValueError("it is not a Workflow")
    return found


def _requested(folder: Path) -> Json:
    try:
        manifest = read(of_run(folder)).inputs.manifest
    except RunError as error:
        raise ValueError(str(error)) from None
    made = {**part(manifest, "metadata"), "creationTimestamp": rfc3339(begun(folder) / 10**9)}
    return {**manifest, "metadata": made, "status": {"phase": PENDING}}


def begun(folder: Path) -> int:
    """When a run was started, in nanoseconds: the time of its lock file, which is created once and never written."""
    try:
        return (folder / "lock").stat().st_mtime_ns
    except OSError:
        return 0


def settings(folder: Path) -> Json:
    """The settings that a run was started with, as far as they can be read: none if another version wrote them."""
    try:
        return inputs(folder).settings
    except RunError:
        return {}


def line(folder: Path) -> list[Path]:
    """The folder of a run, and those of the runs whose results it reused, the latest first."""
    found = [folder]
    while (name := source(settings(found[-1]))) and (one := folder.with_name(name)) not in found:
        found.append(one)
    return found


def source(settings: Json) -> str | None:
    """The name of the run whose results another one reused, according to its settings."""
    since = settings.get("from")
    name: str | None = since[0] if since else settings.get("of")
    return name


def inputs(folder: Path) -> Inputs:
    """The inputs of a run. Raises RunError."""
    try:
        return read(of_run(folder)).inputs
    except RunError as error:
        raise RunError(f"the run {folder.name} cannot be read: {error}") from None


def chosen(runs: Path, document: Json, name: str | None) -> Path:
    """The run of that name; without one, the last run of the same workflow. Raises RunError."""
    if name is not None:
        folder = existing(runs, name)
    else:
        base = base_of(document)
        found = [one for one in newest_first(runs, whole=True) if _base(one) == base]
        if not found:
            raise RunError(f"there is no earlier run of {base} in {runs}: run all of it first")
        folder = found[0]
    if going_on(folder):
        raise RunError(f"the run {folder.name} is still going on")
    return folder


def _base(folder: Path) -> str:
    """The name of a run's workflow; empty for a run of one step."""
    try:
        found = inputs(folder)
    except RunError:
        return ""
    if found.settings.get("only"):
        return ""
    return str(found.settings.get("workflow") or name_of(found.manifest))


def parameters(folder: Path, document: Json) -> dict[str, str]:
    """The arguments of a run for the parameters of the workflow."""
    arguments = part(workflow_spec(document), "arguments")
    known = {str(one["name"]) for one in several(arguments, "parameters")}
    had = part(part(inputs(folder).manifest, "spec"), "arguments")
    return {
        one["name"]: one["value"]
        for one in several(had, "parameters")
        if one.get("value") is not None and one["name"] in known
    }
