"""Checks that only the language can make: over definitions and traces, before anything is lowered.

What needs types, branches, values and step bodies is judged here, where the user's names still stand;
what a manifest shows by itself is judged by `flowdsl.compiler.lint`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.checks import branches, definitions, identity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from flowdsl.diagnostic import Diagnostic
    from flowdsl.pipeline import PipelineDef
    from flowdsl.source import Sources
    from flowdsl.step import StepDef
    from flowdsl.trace import Graph, Trace

#: Each looks at one graph.
CHECKS: tuple[Callable[[Graph, Sources], Iterable[Diagnostic]], ...] = (
    branches.values,
    identity.unseen_questions,
    definitions.call_options,
)


def check_definitions(found: Sequence[StepDef | PipelineDef], roots: Collection[int]) -> list[Diagnostic]:
    """What is wrong with the definitions of steps and pipelines; `roots` are the ids of those compiled."""
    return [one for each in found for one in definitions.definition(each, id(each) in roots)]


def check_trace(trace: Trace, sources: Sources) -> list[Diagnostic]:
    """What is wrong with what the pipelines do."""
    return [one for graph in trace.graphs.values() for check in CHECKS for one in check(graph, sources)]
