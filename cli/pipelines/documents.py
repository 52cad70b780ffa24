"""Loads what a command is to run from files: Argo documents, and the programs of those made from pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.cli.pipelines.checking import judge_manifests
from flowdsl.cli.pipelines.compiling import MANIFESTS, judge, parted, show
from flowdsl.cli.process import STDIN, Refused, err
from flowdsl.diagnostic import any_error
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.documents import base_of
from flowdsl.runtime.local.prepare import runnable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from flowdsl.cli.pipelines.compiling import Judged, Target
    from flowdsl.compiler.compile import Supply
    from flowdsl.compiler.ir import Program
    from flowdsl.compiler.sweeping import Search
    from flowdsl.compiler.written_as import Kind

Json = dict[str, Any]


class Documents(NamedTuple):
    """The Argo documents in some files."""

    meant: list[Json]
    """Those of the first file, or the one of them that was named; all, if the file has nothing to run."""
    others: list[Json]
    """The rest, which they may refer to."""
    programs: list[tuple[Json, Program]]
    """Of those that come from pipelines, the programs."""

    @property
    def every(self) -> list[Json]:
        """All of them."""
        return [*self.meant, *self.others]

    def program_of(self, document: Json) -> Program | None:
        """The program of a document that comes from a pipeline."""
        return next((one for each, one in self.programs if each is document), None)


def right_documents(
    targets: Sequence[str],
    goal: Target,
    kind: Kind | None = None,
    search: Search | None = None,
    given: Sequence[str] | None = (),
    supply: Supply | None = None,
) -> Documents | None:
    """The documents of some files; None if one has an error. Findings go to standard error.

    A target is FILE or FILE:NAME. `kind` is the kind that pipelines compile to, `search` their search space;
    `given`, NAME=VALUE, are parameters with other values than their defaults, None if all may have them; `supply` sets
    values in compiled pipelines. Raises Refused.
    """
    found: list[Judged] = []
    held: dict[str, list[Json]] = {}
    programs: list[tuple[Json, Program]] = []
    parts = {one: parted(Path(one)) for one in targets}
    manifests = [one for one in targets if one == STDIN or parts[one][0].suffix in MANIFESTS]
    if manifests:
        found, read = judge_manifests([str(parts[one][0]) for one in manifests], goal)
        held = dict(zip(manifests, read, strict=True))
    for target in targets:
        if target not in held:
            one = judge(Path(target), kind, goal=goal, search=search, supply=supply)
            found.append(one)
            if one.compiled is not None:
                held[target] = one.compiled.documents
                programs.extend(zip(one.compiled.documents, one.compiled.programs, strict=False))
            if one.failed:
                break
    names = None if given is None else {one.partition("=")[0] for one in given}
    found = [_without_given(one, names) for one in found]
    show(found, "text", err)
    if any(any_error(one.diagnostics) or one.traceback for one in found):
        return None
    documents = [one for target in targets for one in held.get(target, ())]
    meant = held.get(targets[0], [])
    name = parts[targets[0]][1]
    if targets[0] in manifests and name is not None:
        meant = _named(meant, name, targets[0])
    elif not runnable(meant):
        meant = documents
    own = {id(one) for one in meant}
    return Documents(meant, [one for one in documents if id(one) not in own], programs)


def _without_given(judged: Judged, names: Collection[str] | None) -> Judged:
    """The findings, without those about parameters of these names, or about all, that have no other value."""
    from flowdsl.compiler.lint.variables.arguments import LEFT_TO_RUNS
    from flowdsl.compiler.lint.variables.typing_findings import FailsByDefault

    left = [
        one
        for one in judged.diagnostics
        if not isinstance(one.finding, (FailsByDefault, *LEFT_TO_RUNS))
        or (names is not None and one.finding.name not in names)
    ]
    return judged._replace(diagnostics=left)


def _named(documents: list[Json], name: str, target: str) -> list[Json]:
    """The documents of a file with a given name. Raises Refused if there is none."""
    if found := [one for one in documents if base_of(one) == name]:
        return found
    names = ", ".join(map(base_of, documents)) or "nothing of Argo"
    raise Refused(f"{target}: there is no `{name}` in that file; there is {names}")
