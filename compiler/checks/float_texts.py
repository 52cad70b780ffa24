"""Floats in texts that Argo has reformatted on their way into a pipeline, or out of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.checks.body import calls_by_target
from flowdsl.compiler.checks.branches import uses
from flowdsl.compiler.forms import tagged
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.mistakes.texts import TextType
from flowdsl.tracing.trace import Call, rewritten
from flowdsl.values import types as t
from flowdsl.values.expr import (
    Best,
    Const,
    Either,
    Get,
    Join,
    Many,
    OnVolume,
    Op,
    Out,
    Param,
    Rows,
    Stored,
    children,
    leaves,
)
from flowdsl.values.value import part_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from flowdsl.pipeline import PipelineDef
    from flowdsl.tracing.trace import Graph, Loop, Trace
    from flowdsl.values.expr import Expr

_KNOWN = (Const, OnVolume, Stored)
_Found = tuple[str, Related]
"""The float, and where it became one."""


def floats(trace: Trace) -> Iterator[Diagnostic]:
    """Texts with a float that a called pipeline returns or gets, and that Argo computes or takes from a list."""
    calls = calls_by_target([trace])
    for graph in trace.graphs.values():
        for expr, _, place in uses(graph):
            for text in _texts(expr):
                origins = _Origins(trace.graphs, calls)
                floats = (origins.of(part, graph) for part in children(text) if part.type == t.FLOAT)
                if found := next(filter(None, floats), None):
                    yield Diagnostic(TextType(found[0]), place, (found[1],))


def _texts(expr: Expr) -> Iterator[Join]:
    if isinstance(expr, Join):
        yield expr
        return
    for child in children(expr):
        yield from _texts(child)


def _taken(loop: Loop) -> Collection[str]:
    """The parameters whose items Argo takes out of lists: all, unless the items stand in the manifest."""
    if loop.rows is None:
        return loop.lists
    known = all(type(leaf) in _KNOWN for _, item in loop.computed for leaf in leaves(item))
    return () if known and not tagged(loop) else loop.rows[0]


class _Origins:
    """The origins of the floats in one text, through pipelines."""

    def __init__(self, graphs: Mapping[int, Graph], calls: Mapping[int, list[Call]]) -> None:
        self.graphs = graphs
        self.calls = calls
        self.asked: set[tuple[int, str]] = set()

    def of(self, expr: Expr, graph: Graph) -> _Found | None:
        """The float that Argo formatted in another pipeline; None for any other."""
        match expr:
            case Either(choices) | Op("?:", (_, *choices)):
                return next(filter(None, (self.of(one, graph) for one in choices)), None)
            case Get(Rows(Call() as task), int()):
                return self._returned(task, "return")
            case Get(Get(Rows(Call() as task), int()), str() as name):
                return self._returned(task, name)
            case Out(Call() as task, name) | Best(Call() as task, name):
                return self._returned(task, name)
            case Param(name):
                return self._given(graph.owner, name)
            case _:
                return None

    def _returned(self, task: Call, name: str) -> _Found | None:
        graph = self.graphs.get(id(task.target))
        if graph is None or graph.result is None:
            return None
        result = graph.result
        if isinstance(result, Many) and isinstance(result.type, (t.Record, t.Fixed)):
            keys = {out.name: out.keys for out in t.outputs(result.type)}
            result = part_of(result, keys[name])
        return self._at(result, graph, Related(task.site, "returned here"))

    def _given(self, pipeline: PipelineDef, name: str) -> _Found | None:
        if (id(pipeline), name) in self.asked:  # what a call returns may be given to one of the same pipeline
            return None
        self.asked.add((id(pipeline), name))
        for call in self.calls.get(id(pipeline), []):
            here = Related(call.site, "given here")
            if call.loop is not None and name in _taken(call.loop):
                return "float that Argo takes out of a list or dict", here
            if name in call.arguments and (found := self._at(call.arguments[name], call.graph, here)):
                return found
        return None

    def _at(self, expr: Expr, graph: Graph, here: Related) -> _Found | None:
        why = rewritten(expr)
        return self.of(expr, graph) if why is None else (why, here)
