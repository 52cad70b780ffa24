"""Checks that only the language can make: over definitions and traces, before anything is lowered.

What needs types, branches, values and step bodies is judged here, where the user's names still stand;
what a manifest shows by itself is judged by `flowdsl.compiler.lint`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.checks import (
    attempts,
    blocks,
    branches,
    checkpoints,
    cluster,
    compile_time,
    definitions,
    ends,
    float_texts,
    identity,
    sharing,
    texts,
    truth,
    unwritten,
    volumes,
)
from flowdsl.compiler.findings.branches import BranchEscape, LeftBlock
from flowdsl.compiler.findings.options import RunTimeOption
from flowdsl.mistakes.arguments import WrongType
from flowdsl.mistakes.blocks import EitherKnown, KnownCondition
from flowdsl.mistakes.texts import LostText, TextCompared
from flowdsl.mistakes.values import RunTimeCondition, RunTimeKey, RunTimeLoop
from flowdsl.places.place import Definition, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from flowdsl.compiler.options import Declared
    from flowdsl.compiler.profile import Profile
    from flowdsl.diagnostic import Diagnostic
    from flowdsl.pipeline import PipelineDef
    from flowdsl.places.source import Sources
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Graph, Trace

#: Each of them checks one graph.
CHECKS: tuple[Callable[[Graph, Sources], Iterable[Diagnostic]], ...] = (
    branches.values,
    identity.unseen_questions,
    definitions.call_options,
    definitions.images,
    volumes.arguments,
)


def check_definitions(
    found: Sequence[StepDef | PipelineDef], roots: Collection[int], declared: Declared
) -> list[Diagnostic]:
    """Findings about the definitions of steps and pipelines; `roots` are the ids of those compiled."""
    return [one for each in found for one in definitions.definition(each, id(each) in roots, declared)]


def check_trace(trace: Trace, sources: Sources, profile: Profile) -> list[Diagnostic]:
    """Findings about the traced pipelines, from the checks and from tracing itself."""
    found = _checked(trace, sources, profile)
    told = _causes(_traced(trace, found, sources), [*identity.choices(found, sources)], sources)
    return found + [truth.worded(one, sources) for one in told]


def _checked(trace: Trace, sources: Sources, profile: Profile) -> list[Diagnostic]:
    """The findings of the checks."""
    found = [one for graph in trace.graphs.values() for check in CHECKS for one in check(graph, sources)]
    found += branches.rows_inside(trace)
    found += texts.compared_texts(trace, sources)
    root = trace.root.owner
    for graph in trace.graphs.values():
        found += cluster.fits(graph, root, profile)
        found += checkpoints.checkpoints(graph, root, profile)
        found += definitions.of_runs(graph.owner, root)
    if not trace.failed:  # a mistake may be the reason that there are none
        found += definitions.calls(trace)
        found += float_texts.floats(trace)
        found += definitions.unused(trace, sources)
        found += sharing.sharing(trace)
        found += unwritten.unwritten(trace)
        found += compile_time.taken_once(trace, sources)
    found += ends.ends(trace)
    found += attempts.unseen_failures(trace, sources)
    left = blocks.blocks(trace, sources)
    if any(isinstance(one.finding, LeftBlock) and one.finding.verb == "return" for one in left):
        found = [one for one in found if not _is_result(one)]  # the mistake is the `return`
    return found + left


_SAID_BY = ((RunTimeOption, RunTimeKey), (BranchEscape, RunTimeCondition))
"""Findings of the checks, and those of tracing that they explain at the same place, as in `made or 0`."""


def _traced(trace: Trace, found: list[Diagnostic], sources: Sources) -> list[Diagnostic]:
    """The findings of tracing, without consequences of what the checks found."""
    # `when(x is None)` is one mistake: the test itself, not that its answer is constant.
    asked = [one.place for one in found if isinstance(one.place, Span)]
    told = [one for one in trace.problems if not asked or not _answers(one, asked, sources)]
    for cause, effect in _SAID_BY:
        said = {_span(one, sources) for one in found if isinstance(one.finding, cause)}
        told = [one for one in told if not isinstance(one.finding, effect) or _span(one, sources) not in said]
    if any(isinstance(one.finding, TextCompared) for one in found):  # this may be why a text was lost
        told = [one for one in told if not isinstance(one.finding, LostText)]
    return told


def _causes(problems: list[Diagnostic], choices: Iterable[Span], sources: Sources) -> list[Diagnostic]:
    """The findings without those about the type of what `len(...)` and the like returned instead of an answer.

    The same for the `choices`, of which Python always takes the same side.
    """
    unknown = {*choices, *(_span(one, sources) for one in problems if isinstance(one.finding, RunTimeLoop))}
    return [
        one
        for one in problems
        if not unknown or not isinstance(one.finding, WrongType) or _span(one, sources) not in unknown
    ]


def _span(one: Diagnostic, sources: Sources) -> Span | None:
    return None if one.place is None else sources.resolve(one.place)


def _is_result(one: Diagnostic) -> bool:
    """Whether a finding is about a result of a pipeline that may be missing."""
    place = one.place
    return isinstance(one.finding, BranchEscape) and isinstance(place, Definition) and place.name == "return"


def _answers(one: Diagnostic, asked: Iterable[Span], sources: Sources) -> bool:
    """Whether a finding only reports that the answer to one of the questions is constant."""
    if not isinstance(one.finding, (KnownCondition, EitherKnown)) or one.place is None:
        return False
    whole = sources.resolve(one.place)
    return whole is not None and any(
        part.file == whole.file
        and (whole.line, whole.column) <= (part.line, part.column)
        and (part.end_line, part.end_column) <= (whole.end_line, whole.end_column)
        for part in asked
    )
