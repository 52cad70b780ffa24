"""The documents of Argo that files hold: pipelines compiled, YAML and JSON as they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.cli.checking import judge_manifests
from flowdsl.cli.compiling import judge, parted, show
from flowdsl.cli.process import STDIN, err

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.cli.compiling import Judged, Target
    from flowdsl.compiler.compile import Kind

Json = dict[str, Any]

_MANIFESTS = (".yaml", ".yml", ".json")


def gathered(targets: Sequence[str], goal: Target, kind: Kind | None = None) -> list[Json] | None:
    """The documents of some files, in their order; None if one has an error. Findings go to standard error.

    `kind` is what pipelines become. Raises Refused.
    """
    documents: list[Json] = []
    found: list[Judged] = []
    for target in targets:
        if target == STDIN or parted(Path(target))[0].suffix in _MANIFESTS:
            judged, bodies = judge_manifests([target])
            found += judged
            documents += bodies
        else:
            one = judge(Path(target), kind, goal=goal)
            found.append(one)
            documents += one.compiled.documents if one.compiled is not None else []
    show(found, "text", err)
    wrong = any(each.finding.severity == "error" for one in found for each in one.diagnostics)
    return None if wrong or any(one.traceback for one in found) else documents
