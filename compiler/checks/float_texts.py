"""Floats in texts that Argo has reformatted on their way into a pipeline, or out of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.checks.body import calls_by_target
from flowdsl.compiler.checks.branches import uses
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.mistakes.texts import TextType
from flowdsl.tracing.trace import Call, rewritten
from flowdsl.values import types as t
from flowdsl.values.expr import Best, Either, Get, Join, Many, Op, Out, Param, Rows, children
from flowdsl.values.value import part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.pipeline import PipelineDef
    from flowdsl.places.place import Place
    from flowdsl.tracing.trace import Graph, Trace
    from flowdsl.values.expr import Expr

_Found = tuple[str, Related]
"""The float, and where it became one."""


def floats(trace: Trace) -> Iterator[Diagnostic]:
    """Texts with a float that a called pipeline returns or gets, and that Argo computes or takes from a list."""
    origins = _Origins(trace)
    for graph in trace.graphs.values():
        for expr, _, place in uses(graph):
            yield from _in_texts(expr, graph, place, origins)


def _in_texts(expr: Expr, graph: Graph, place: Place, origins: _Origins) -> Iterator[Diagnostic]:
    if isinstance(expr, Join):
        found = next(
            filter(None, (origins.of(part, graph) for part in children(expr) if part.type == t.FLOAT)), None
        )
        if found is not None:
            yield Diagnostic(TextType(found[0]), place, (found[1],))
        return
    for child in children(expr):
        yield from _in_texts(child, graph, place, origins)


class _Origins:
    """The origins of floats, through pipelines."""

    def __init__(self, trace: Trace) -> None:
        self.graphs = trace.graphs
        self.calls = calls_by_target([trace])

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
        for call in self.calls.get(id(pipeline), []):
            rows = () if call.loop is None else (call.loop.lists, *(call.loop.rows or ()))
            here = Related(call.site, "given here")
            for given in (call.arguments, *rows):
                if name not in given:
                    continue
                if call.loop is not None and given is call.loop.lists:
                    return "float that Argo takes out of a list or dict", here
                if found := self._at(given[name], call.graph, here):
                    return found
        return None

    def _at(self, expr: Expr, graph: Graph, here: Related) -> _Found | None:
        why = rewritten(expr)
        return self.of(expr, graph) if why is None else (why, here)
