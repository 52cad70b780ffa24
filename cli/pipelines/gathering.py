"""Collects the files that `check` and `compile` read: in a folder, its pipelines and its standalone manifests."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.cli.pipelines.compiling import MANIFESTS
from flowdsl.cli.process import STDIN, note
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS = regex(r"^\s*(?:from|import)\s+flowdsl\b(?!\.testing\b)", re.MULTILINE)
_KUSTOMIZATIONS = frozenset(("kustomization.yaml", "kustomization.yml", "Kustomization"))
_PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")


def files(target: str) -> Iterator[tuple[str, bool]]:
    """The files of a target, and whether it was given itself; for a folder, the relevant files, or itself."""
    path = Path(target)
    if target == STDIN or not path.is_dir():
        yield target, True
        return
    inside = [one for one in sorted(_below(path)) if one.is_file()]
    patches = {patch for one in inside if one.name in _KUSTOMIZATIONS for patch in _patches(one)}
    found = False
    for file in inside:
        manifest = file.suffix in MANIFESTS and not _is_of_chart(file) and file.resolve() not in patches
        if manifest or _is_ours(file):
            found = True
            yield str(file), False
    if not found:
        yield target, True


def _below(folder: Path) -> Iterator[Path]:
    """What is in a folder and its folders, without what is hidden, and without environments of Python.

    A folder that cannot be read is reported.
    """

    def left_out(error: OSError) -> None:
        note(f"{Path(error.filename)} was left out: {error.strerror}")

    for place, folders, names in os.walk(folder, onerror=left_out):
        folders[:] = [
            one for one in folders if not one.startswith(".") and not _is_environment(Path(place, one))
        ]
        yield from (Path(place, one) for one in names if not one.startswith("."))


def _is_environment(folder: Path) -> bool:
    """Whether a folder has a Python with its packages: of venv, virtualenv or uv, or of conda."""
    return any(os.path.lexists(folder / one) for one in ("pyvenv.cfg", "conda-meta"))


def _is_of_chart(file: Path) -> bool:
    """Whether a file is a template of a Helm chart, which is not YAML before it is rendered."""
    return any(one.name == "templates" and (one.parent / "Chart.yaml").is_file() for one in file.parents)


def _patches(kustomization: Path) -> Iterator[Path]:
    """The files that are patches of other manifests. Source: the fields of a Kustomization of kustomize."""
    from flowdsl.compiler.tree import is_list, is_mapping
    from flowdsl.compiler.yaml.documents import read

    try:
        text = kustomization.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    bodies = [one.body for one in read(text, str(kustomization))[0] if is_mapping(one.body)]
    listed = [body.get(field) for body in bodies for field in _PATCHES]
    for one in (one for entries in listed if is_list(entries) for one in entries):
        name = one.get("path") if is_mapping(one) else one
        if isinstance(name, str) and "\n" not in name:  # else it is the patch itself
            yield (kustomization.parent / name).resolve()


def _is_ours(file: Path) -> bool:
    if file.suffix != ".py":
        return False
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True  # why it cannot be read is found with the others
    return _OURS.search(text) is not None
