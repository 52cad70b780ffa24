"""What files hold to be run: documents of Argo, and the programs of those that come from pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.cli.pipelines.checking import judge_manifests
from flowdsl.cli.pipelines.compiling import MANIFESTS, judge, parted, show
from flowdsl.cli.process import STDIN, err

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.cli.pipelines.compiling import Judged, Target
    from flowdsl.compiler.compile import Kind
    from flowdsl.compiler.ir import Program
    from flowdsl.compiler.sweeping import Search

Json = dict[str, Any]


def _documents(
    targets: Sequence[str], goal: Target, kind: Kind | None, search: Search | None
) -> tuple[list[Judged], list[Json], list[tuple[Json, Program]]]:
    """The findings about some files, the documents of Argo in them, and the programs of those from pipelines.

    `kind` is what pipelines become, `search` what is tried of them.
    """
    manifests = [one for one in targets if one == STDIN or parted(Path(one))[0].suffix in MANIFESTS]
    found, documents = judge_manifests(manifests, goal) if manifests else ([], [])
    programs: list[tuple[Json, Program]] = []
    for target in targets:
        if target not in manifests:
            one = judge(Path(target), kind, goal=goal, search=search)
            found.append(one)
            if one.compiled is not None:
                documents = [*one.compiled.documents, *documents]
                programs.extend(zip(one.compiled.documents, one.compiled.programs, strict=False))
            if one.failed:
                return found, [], []
    return found, documents, programs


def right_documents(
    targets: Sequence[str], goal: Target, kind: Kind | None = None, search: Search | None = None
) -> tuple[list[Json], list[tuple[Json, Program]]] | None:
    """The documents and programs of some files; None if one has an error. Findings go to standard error."""
    found, documents, programs = _documents(targets, goal, kind, search)
    show(found, "text", err)
    wrong = any(each.finding.severity == "error" for one in found for each in one.diagnostics)
    return None if wrong or any(one.traceback for one in found) else (documents, programs)
