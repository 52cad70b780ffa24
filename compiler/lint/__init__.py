"""Checks of a manifest: the schema first, then rules over what the fields mean together.

The same rules judge what the compiler wrote and any other YAML of Argo's kinds; a few more judge the latter only.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint import bindings, doubts, pods, progress, variables, workflow
from flowdsl.compiler.lint.combined import only_together
from flowdsl.compiler.lint.consequences import without_followers
from flowdsl.compiler.lint.defaulted import defaulted
from flowdsl.compiler.lint.empty_fields import at_key
from flowdsl.compiler.lint.filled import filled
from flowdsl.compiler.lint.joined import joined
from flowdsl.compiler.lint.manifest.view import View
from flowdsl.compiler.lint.patched import patched
from flowdsl.compiler.lint.pods.findings import Incomplete
from flowdsl.compiler.lint.pods.nodes import NoNode
from flowdsl.compiler.lint.repaired import sound
from flowdsl.compiler.lint.variables.arguments import NeededAtStart, ToBeGiven
from flowdsl.compiler.lint.workflow.bodies import EmptyGraph
from flowdsl.compiler.lint.workflow.names import NoName
from flowdsl.compiler.lint.workflow.recursion import note_circles
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema import is_type
from flowdsl.compiler.schema.findings import (
    PatternMismatch,
    RepeatedEntry,
    TooFewEntries,
    UnknownField,
    WrongType,
)
from flowdsl.compiler.tree import is_description
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flowdsl.compiler.lint.combined import Whole
    from flowdsl.compiler.lint.manifest.view import Library, Rule
    from flowdsl.compiler.lint.repaired import Sound
    from flowdsl.compiler.tree import Path

RULES: tuple[Rule, ...] = (*workflow.RULES, *variables.RULES, *progress.RULES, *pods.RULES, *doubts.RULES)
"""The rules for every manifest: functions from a prepared manifest to its findings, in no particular order."""

WRITTEN: tuple[Rule, ...] = (*RULES, *variables.OF_YAML, *pods.OF_YAML, *doubts.OF_YAML)
"""The rules for hand-written YAML; for Python, the options report what `OF_YAML` does."""


def lint(
    document: dict[str, Any],
    library: Library | None = None,
    rules: tuple[Rule, ...] = RULES,
    written: Callable[[Path], str] = lambda _: "",
) -> list[Problem]:
    """All findings about one document, those of the schema first.

    `library` has the documents whose templates the document may use; references to others are not checked.
    `written` returns the text of a scalar as it is in the file.

    Where both the schema and a rule find something at one place, the rule's finding is kept if it concerns
    the format of a text, and the schema's otherwise. A document of an unknown kind, or without a spec, is
    checked against the schema only.
    """
    whole = sound(document, written)
    by_rules = _by_rules(whole, library, rules)
    found = whole.problems if by_rules is None else merge(whole, by_rules)
    return [at_key(document, problem) for problem in found]


def _by_rules(whole: Sound, library: Library | None, rules: tuple[Rule, ...]) -> list[Problem] | None:
    """The findings of the rules in a document; None for a document that they do not apply to."""
    if not whole.has_kind:
        return None
    if whole.document["kind"] == bindings.BINDING:
        return list(bindings.binding(whole.document, library))
    view = View(whole.document, each=False, library=library)
    if not view.exists:
        return None
    found = _with_values(view, rules, whole.problems)
    for larger, judging in _larger(view) if not whole.problems else ():
        if larger is not None:

            def find(one: dict[str, Any], judging: tuple[Rule, ...] = judging) -> list[Problem]:
                return _with_values(View(one, each=False, library=library), judging)

            found += only_together(view, larger, found, find)
    return found


def _larger(view: View) -> Iterator[tuple[Whole | None, tuple[Rule, ...]]]:
    """Variants of the document with its templates as they are in a run, each with the rules that it must obey."""
    yield patched(view), RULES
    yield defaulted(view), pods.RULES
    yield joined(view), RULES


def _with_values(view: View, rules: tuple[Rule, ...], by_schema: Sequence[Problem] = ()) -> list[Problem]:
    """The findings of the rules, with those that occur only with the known values of its tags."""
    whole = filled(view)
    found = _found(view, rules, by_schema)
    if whole is None:
        return found
    judging = tuple(rule for rule in rules if rule in _OF_VALUES)
    return found + only_together(
        view, whole, found, lambda one: _found(View(one, each=False, library=view.library), judging)
    )


_OF_VALUES = frozenset((*workflow.RULES, *pods.RULES))
"""The rules for values; the others are for the tags."""


def _found(view: View, rules: tuple[Rule, ...], by_schema: Sequence[Problem] = ()) -> list[Problem]:
    """The findings of the rules: on one template or call of each sort first, and on all of them if there are any."""
    found = problems(view, rules, by_schema)
    if _may_repeat(view, found):
        return problems(View(view.document, library=view.library), rules, by_schema)
    return found


def _may_repeat(view: View, found: Sequence[Problem]) -> bool:
    """Whether templates or calls that were not checked may have the same findings as others of their sort."""
    at = len(view.path)
    return (len(view.templates) < len(view.all) or len(view.outlines) < len(view.calls)) and any(
        problem.path[at : at + 1] == ("templates",) for problem in found
    )


def shelf(documents: Iterable[dict[str, Any]]) -> Library:
    """The documents whose templates others may use, by kind and name."""
    found: dict[tuple[str, str], View] = {}
    for document in documents:
        if document.get("kind") in ("WorkflowTemplate", "ClusterWorkflowTemplate"):
            whole = sound(document)
            if whole.has_kind:
                view = View(whole.document)
                name = view.metadata.get("name")
                if isinstance(name, str) and view.exists:
                    found.setdefault((view.kind, name), view)
    for view in found.values():
        view.link(found)
    note_circles(found.values())
    return found


def problems(view: View, rules: tuple[Rule, ...], by_schema: Sequence[Problem]) -> list[Problem]:
    """The findings of the rules without those that result from others, such as findings of the schema."""
    found = [problem for rule in rules for problem in rule(view) if not _is_idle(problem)]
    if found:
        found = without_followers(view, found, by_schema)
    view.clear()
    return found


def _is_idle(problem: Problem) -> bool:
    """Whether a problem is a doubt about a text that only people read."""
    return problem.finding.severity != "error" and is_description(problem.path)


def merge(whole: Sound, by_rules: list[Problem]) -> list[Problem]:
    """The findings of the schema and of the rules, with each mistake reported once."""
    by_rules = [whole.placed(problem) for problem in by_rules]
    ruled = {problem.path for problem in by_rules}
    kept = [
        each
        for each in _once(whole.problems)
        # Where no tag is allowed, what a rule says of the tag is irrelevant.
        if not (
            isinstance(each.finding, PatternMismatch)
            and each.path in ruled
            and "{{" not in each.finding.value
        )
    ]
    gone = {each.path for each in whole.problems if isinstance(each.finding, WrongType)}
    # The effects of a misspelt or wrong field are not a second mistake of the object that holds it.
    taken = {each.path for one in kept for each in (one, *one.also)}
    lost = taken.difference(whole.moved.values())
    is_told = _told_below(whole.problems)
    taken |= {
        each.path[:-1]
        for each in kept
        if isinstance(each.finding, (UnknownField, WrongType)) and each.path in lost
    }
    taken.update(
        (*each.path, name)
        for each in kept
        if isinstance(each.finding, RepeatedEntry)
        for name in each.finding.key
    )
    for problem in by_rules:
        path = problem.path
        if (
            path not in taken
            and gone.isdisjoint(path[:length] for length in range(len(path)))
            and not is_told(problem)
        ):
            kept.append(problem)
    return kept


_TOLD_BELOW: dict[type[Finding], type[Finding]] = {
    EmptyGraph: TooFewEntries,
    NoNode: Finding,
    Incomplete: WrongType,
    ToBeGiven: UnknownField,
    NeededAtStart: UnknownField,
}
"""The findings of rules about a whole object, and the findings of the schema about a part that replace them."""


def _told_below(by_schema: Iterable[Problem]) -> Callable[[Problem], bool]:
    """Whether the schema already reports, at a part of an object, what a problem reports of the whole object."""
    named = {each.path[:-1] for each in by_schema if each.path[-1:] == ("name",)}
    within: dict[type[Finding], set[Path]] = {
        part: {
            each.path[:length]
            for each in by_schema
            if isinstance(each.finding, part)
            for length in range(len(each.path))
        }
        for part in _TOLD_BELOW.values()
    }

    def is_told(problem: Problem) -> bool:
        kind = type(problem.finding)
        if kind is NoName:
            return problem.path in named
        return kind in _TOLD_BELOW and problem.path in within[_TOLD_BELOW[kind]]

    return is_told


def _shared(problem: Problem) -> str | tuple[Path, Path] | None:
    """What a finding has in common with those that are reported with it; None if it is reported alone.

    It is the name that YAML reads as true or false, because it has no quotes; or the parent of a field, and
    the parent that it belongs to.
    """
    finding, here = problem.finding, problem.path[:-1]
    if isinstance(finding, WrongType) and isinstance(finding.value, bool):
        return finding.written or None if problem.path[-1:] in (("name",), ("template",)) else None
    there = finding.target if isinstance(finding, UnknownField) else None
    return None if there is None or there[:-1] == here else (here, there[:-1])


def _once(by_schema: Iterable[Problem]) -> Iterator[Problem]:
    """The findings of the schema, with one for all entries of a list that are wrong in the same way.

    Of fields with the same wrong parent and the same right one, only the first is reported, with the others
    attached; likewise for the occurrences of a name that YAML reads as true or false.
    """
    told: set[tuple[Path, str, type]] = set()
    alike: defaultdict[str | tuple[Path, Path], list[Problem]] = defaultdict(list)
    by_schema = list(by_schema)
    for problem in by_schema:
        if (shared := _shared(problem)) is not None:
            alike[shared].append(problem)
    for problem in by_schema:
        finding = problem.finding
        if (shared := _shared(problem)) is not None:
            first, *others = alike[shared]
            if problem is first:
                yield problem._replace(also=tuple(others))
            continue
        if isinstance(finding, WrongType) and isinstance(problem.path[-1], int):
            value: object = finding.value
            what = (problem.path[:-1], finding.expression, type(value))
            if what in told and (":" in finding.expression or is_type(finding.expression)):
                continue
            told.add(what)
        yield problem
