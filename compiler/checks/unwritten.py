"""Claims that are made for a run and read before anything is written to them: they are empty then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from flowdsl.companion import Companion
from flowdsl.compiler.checks.sharing import ancestors
from flowdsl.compiler.findings.data import ReadUnwritten
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.pipeline import PipelineDef
from flowdsl.values.expr import OnVolume, children
from flowdsl.values.later import known_options
from flowdsl.values.lift import is_dict
from flowdsl.values.value import is_value
from flowdsl.volume import NewVolume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flowdsl.tracing.trace import Call, Graph, Trace
    from flowdsl.values.expr import Expr


_NEVER = "ReadOnlyMany"  # which is an error of its own


class _Used(NamedTuple):
    """The names of the claims of the run that a call only reads, and of those that it may write to."""

    read: set[str]
    written: set[str]


def unwritten(trace: Trace) -> Iterator[Diagnostic]:
    """Calls that read a claim of the run which nothing that has ended before has written to."""
    graphs = trace.graphs.values()
    called = {id(call.target) for graph in graphs for call in graph.calls}
    stored = {
        name
        for graph in graphs
        for options in (graph.owner.options, *_options(graph))
        for word in ("store", "checkpoints")
        for name in _made([options.get(word)])
    }
    for graph in graphs:
        if id(graph.owner) not in called and graph.around is None:
            yield from _graph(graph, trace, stored)


def _graph(graph: Graph, trace: Trace, stored: set[str]) -> Iterator[Diagnostic]:
    used = [(call, _used(call, trace, set())) for call in graph.calls]
    if not any(one.read for _, one in used):
        return
    before = ancestors(graph)
    for call, one in used:
        for name in sorted(one.read - stored):
            writers = [at for at, (_, other) in enumerate(used) if name in other.written]
            if any(before[id(call)] >> at & 1 for at in writers):
                continue
            others = [used[at][0] for at in writers]
            related = tuple(Related(other.site, "this may write to it later") for other in others[:1])
            finding = ReadUnwritten(call.target.name, name, others[0].target.name if others else "")
            yield Diagnostic(finding, call.site, related)


def _options(graph: Graph) -> Iterator[Mapping[str, Any]]:
    for call in graph.calls:
        yield {**call.target.options, **call.options}


def _used(call: Call, trace: Trace, around: set[int]) -> _Used:
    """What a call reads and writes; of a pipeline all that its own calls do."""
    target = call.target
    found = _Used({one for expr in _given(call) for one in _paths(expr)}, set())
    if isinstance(target, PipelineDef):
        graph = trace.graphs.get(id(target))
        for inner in graph.calls if graph is not None and id(target) not in around else ():
            one = _used(inner, trace, {*around, id(target)})
            found.read.update(one.read)
            found.written.update(one.written)
    else:
        options = known_options({**target.options, **call.options})
        mounts: Any = options.get("mounts")
        others = [one.mounts for word in ("init", "sidecars") for one in _companions(options.get(word))]
        for each in (mounts, *others):
            if each and not is_value(each) and is_dict(each):
                found.written.update(_made(each.values(), read_only=False))
                found.read.update(_made(each.values(), read_only=True))
        if options.get("daemon"):  # it looks at what comes
            found.read.clear()
    return _Used(found.read - found.written, found.written)


def _given(call: Call) -> Iterator[Expr]:
    yield from call.arguments.values()
    if call.loop is not None:
        yield from call.loop.lists.values()
        for row in call.loop.rows or ():
            yield from row.values()


def _paths(expr: Expr) -> Iterator[str]:
    """The claims of the run of which a value holds paths."""
    if isinstance(expr, OnVolume):
        yield from _made([expr.volume])
    for child in children(expr):
        yield from _paths(child)


def _companions(given: object) -> list[Companion]:
    several = cast("list[object]", given) if isinstance(given, (list, tuple)) else [given]
    return [one for one in several if isinstance(one, Companion)]


def _made(given: Iterable[object], *, read_only: bool | None = None) -> Iterator[str]:
    """The names of those among volumes and paths on them that are made for the run."""
    for one in given:
        volume = one.volume if isinstance(one, VolumePath) else one
        if isinstance(volume, NewVolume) and read_only in (None, volume.read_only) and volume.mode != _NEVER:
            yield str(volume.name)
