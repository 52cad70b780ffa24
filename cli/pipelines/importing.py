"""`import`: converts the YAML of a workflow to a pipeline in Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.cli.display.report import suppressed
from flowdsl.cli.files import give
from flowdsl.cli.pipelines.checking import manifests_of
from flowdsl.cli.pipelines.compiling import USUAL, Judged, show
from flowdsl.cli.process import DONE, WRONG, Refused, err
from flowdsl.diagnostic import Diagnostic, any_error
from flowdsl.places.place import Span

if TYPE_CHECKING:
    from flowdsl.cli.display.report import Format


def import_file(target: str, *, output: Path | None, format: Format) -> int:
    """Import a file of manifests, to standard output or to `output`; returns the exit code. Raises `Refused`."""
    if output is not None and os.path.lexists(output) and not _is_device(output):
        raise Refused(f"{output} is there already: name another file to write")
    if target.endswith(".py") and Path(target).is_file():
        raise Refused(f"{target} is Python already, no YAML: {_way(Path(target))}")
    text, judged = _imported(target)
    found = judged.diagnostics
    show([judged], format, err)
    if any_error(found):
        return WRONG
    give(text, output)
    return DONE


def _way(file: Path) -> str:
    """What to do with a Python file."""
    from flowdsl.compiler.foreign import way_out

    foreign = way_out(file.read_text("utf-8", errors="replace"))
    return foreign or "`flowdsl compile`, `check` and `run` take it"


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _imported(target: str) -> tuple[str, Judged]:
    """The text of the pipelines, and remarks about it."""
    from flowdsl.compiler.importing.compiled import findings
    from flowdsl.compiler.importing.importing import imported
    from flowdsl.compiler.importing.older_versions import renew
    from flowdsl.compiler.lint.variables.arguments import LEFT_TO_RUNS
    from flowdsl.compiler.manifests import NoManifest, check_manifests, is_argo
    from flowdsl.compiler.yaml.documents import read

    manifests, sources, codes = manifests_of(target, True, USUAL, within=False)
    for document in manifests.documents:
        if is_argo(document.body):
            renew(document.body)
    judged = check_manifests([manifests])[0]
    found = [one for one in judged if any_error([one]) and not isinstance(one.finding, LEFT_TO_RUNS)]
    text = ""
    if not found and (file := sources.file(target)) is not None:
        documents, _ = read(file.text.replace("\r\n", "\n"), target)
        parts = [part for one in documents for part in one.listed]
        made = imported(parts)
        text, found = made.text, findings(made, parts)
        if not text and not any_error(found):
            found = [Diagnostic(NoManifest(target), Span(target, 1, 0, 1, 0))]
    return text, Judged(None, suppressed(found, sources, codes), sources)
