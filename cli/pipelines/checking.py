"""`check`: findings about pipelines in Python, and about workflows in YAML or JSON."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from flowdsl.cli.config import project
from flowdsl.cli.display.report import suppressed
from flowdsl.cli.pipelines.compiling import (
    MANIFESTS,
    ONLY_YAML,
    Judged,
    are_parts,
    as_part,
    judge,
    parted,
    show,
    without_lack,
)
from flowdsl.cli.pipelines.gathering import files
from flowdsl.cli.process import DONE, STDIN, WRONG, Refused, out
from flowdsl.diagnostic import Diagnostic, any_error
from flowdsl.grammar.regex import regex
from flowdsl.places.source import Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flowdsl.cli.display.report import Format
    from flowdsl.cli.pipelines.compiling import Target
    from flowdsl.compiler.manifests import Manifests
    from flowdsl.compiler.written_as import Kind

    _Read = tuple[Manifests, Sources, frozenset[str]]

_PIPELINE = regex(r"^(?:from|import)\s+flowdsl\b", re.MULTILINE)
"""What a pipeline in Python has, and YAML at the beginning of no line."""


def check_files(
    targets: Sequence[str],
    *,
    kind: Kind | None,
    goal: Target,
    format: Format,
    select: Sequence[str],
    ignore: Sequence[str],
    strict: bool,
) -> int:
    """Report the findings of files on standard output; returns the exit code.

    Pipelines are checked as objects of `kind`, if it is given. `select` and `ignore` are codes or prefixes of codes;
    with `strict`, warnings count as errors.
    """
    wanted, unwanted = _codes(select), _codes(ignore)
    found = _judged([path for target in targets for path in files(target)], kind, goal)

    def counts(one: Diagnostic) -> bool:
        code = one.finding.code
        return (not wanted or code.startswith(wanted)) and not (unwanted and code.startswith(unwanted))

    found = [one._replace(diagnostics=list(filter(counts, one.diagnostics))) for one in found]
    show(found, format, out)
    return WRONG if any(_fails(one, strict) for one in found) else DONE


def _fails(one: Judged, strict: bool) -> bool:
    if one.traceback:
        return True
    return any(strict or diagnostic.finding.severity == "error" for diagnostic in one.diagnostics)


def _codes(written: Sequence[str]) -> tuple[str, ...]:
    from flowdsl.compiler.findings.codes import CODES

    codes = tuple(code for text in written for code in text.replace(",", " ").split())
    for code in codes:
        if not any(one.startswith(code) for one in CODES):
            raise Refused(
                f'`{code}` is not the code of a finding, or the beginning of one: they look like "FD217"'
            )
    return codes


def _judged(targets: Sequence[tuple[str, bool]], kind: Kind | None, goal: Target) -> list[Judged]:
    """The findings of each file."""
    results: list[Callable[[], Judged] | int] = []
    manifests: list[_Read] = []
    for target, named in targets:
        if named and target != STDIN and Path(target).is_dir():
            results.append(partial(_empty, target))
        elif target == STDIN or parted(Path(target))[0].suffix in MANIFESTS:
            results.append(len(manifests))
            manifests.append(manifests_of(target, named, goal))
        else:
            results.append(_python(Path(target), named, kind, goal))
    checked = _checked(manifests) if manifests else []
    judged = [checked[result] if isinstance(result, int) else result() for result in results]
    return [as_part(one) if part else one for one, part in zip(judged, are_parts(judged), strict=True)]


def judge_manifests(targets: Sequence[str], goal: Target) -> tuple[list[Judged], list[list[dict[str, Any]]]]:
    """The findings of YAML and JSON files, and the Argo documents in each."""
    files = [manifests_of(target, True, goal, within=False) for target in targets]
    return _checked(files), [one.bodies for one, _, _ in files]


def _checked(files: Sequence[_Read]) -> list[Judged]:
    """The findings of manifests, which are checked together, because they refer to each other."""
    from flowdsl.compiler.manifests import check_manifests

    found = check_manifests(one for one, _, _ in files)
    return [
        Judged(None, suppressed(each, sources, codes), sources)
        for each, (_, sources, codes) in zip(found, files, strict=True)
    ]


def _empty(folder: str) -> Judged:
    from flowdsl.compiler.findings.load import NoPipeline

    return Judged(None, [Diagnostic(NoPipeline(folder, folder=True), None)], Sources())


def _python(path: Path, named: bool, kind: Kind | None, goal: Target) -> Callable[[], Judged]:
    """Checks a Python file; one of a folder may contain only steps for others, and needs no pipeline."""

    def found() -> Judged:
        judged = judge(path, kind, goal=goal)
        return judged if named else without_lack(judged, path)

    return found


def _standard_input() -> bytes:
    """All of standard input, decoded independently of the locale."""
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)  # a test may have put a text in its place
    return sys.stdin.read().encode("utf-8") if stream is None else stream.read()


def manifests_of(target: str, named: bool, goal: Target, within: bool = True) -> _Read:
    """The manifests of a file, or of standard input, with its text and the codes that the project silences."""
    from flowdsl.compiler.manifests import Manifests, manifests, undecodable

    sources = Sources()
    profile, codes, wrong = project(Path(target), goal.cluster, goal.argo)
    if any_error(wrong):
        return Manifests(target, [], wrong), sources, codes
    try:
        data = _standard_input() if target == STDIN else Path(target).read_bytes()
    except OSError as error:
        from flowdsl.compiler.load import unread

        finding = unread(Path(target), error, *MANIFESTS)
        return Manifests(target, [], [Diagnostic(finding, None)]), sources, codes
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        sources.add(target, data.decode("utf-8", "replace"))
        return undecodable(error, target), sources, codes
    if target == STDIN and _PIPELINE.search(text) is not None:
        raise Refused(ONLY_YAML)
    sources.add(target, text)
    found = manifests(text.replace("\r\n", "\n"), target, named=named, within=within)
    return found._replace(version=profile.argo), sources, codes
