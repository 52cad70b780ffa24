"""Claims made for a run that are read before anything is written to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flowdsl.companion import Companion
from flowdsl.compiler.checks.sharing import ancestors
from flowdsl.compiler.findings.data import ReadUnwritten
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.grammar.named import NamedTuple
from flowdsl.pipeline import PipelineDef
from flowdsl.values.expr import OnVolume, children
from flowdsl.values.later import known_options
from flowdsl.values.lift import is_dict
from flowdsl.values.value import is_value
from flowdsl.volume import NewVolume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.tracing.trace import Call, Graph, Trace
    from flowdsl.values.expr import Expr


_NEVER = "ReadOnlyMany"  # this is a separate error


class _Used(NamedTuple):
    """The claims of the run that a call only reads, and those that it may write to."""

    read: set[str]
    written: set[str]


def unwritten(trace: Trace) -> Iterator[Diagnostic]:
    """Calls that read a claim of the run to which none of the calls that have ended before has written."""
    called = {id(call.target) for call in trace.calls}
    reading = _Reading(trace)
    for graph in trace.graphs.values():
        if id(graph.owner) not in called and graph.around is None:
            yield from _graph(graph, trace, reading)


def _graph(graph: Graph, trace: Trace, reading: _Reading) -> Iterator[Diagnostic]:
    used = [(call, reading.used(call, frozenset())) for call in graph.calls]
    if not any(one.read for _, one in used):
        return
    stored = _stored(trace)
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


def _stored(trace: Trace) -> set[str]:
    """The claims of the run that Argo or a step writes to because of an option."""
    options = [graph.owner.options for graph in trace.graphs.values()]
    options += [call.all_options for call in trace.calls]
    words = ("store", "checkpoints")
    return {name for each in options for word in words for name in _made([each.get(word)])}


class _Reading:
    """How the calls of a trace use the claims of the run."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known: dict[tuple[int, int], tuple[_Used, bool]] = {}

    def used(self, call: Call, around: frozenset[int]) -> _Used:
        """The claims that a call reads and writes; for a pipeline those of all its calls."""
        target = call.target
        read = {one for expr in call.values for one in _paths(expr)}
        written: set[str] = set()
        if isinstance(target, PipelineDef):
            graph = self._trace.graphs.get(id(target))
            for inner in graph.calls if graph is not None and id(target) not in around else ():
                one = self.used(inner, around | {id(target)})
                read |= one.read
                written |= one.written
        else:
            mounted, serves = self._of_options(call)
            read = set[str]() if serves else read | mounted.read
            written = mounted.written
        return _Used(read - written, written)

    def _of_options(self, call: Call) -> tuple[_Used, bool]:
        """The mounts of a step, and whether it is a daemon; shared by calls without options of their own."""
        target = call.target
        key = id(target), id(call.options) if call.options else 0
        if key not in self._known:
            options = known_options(call.all_options)
            mounts = [options.get("mounts")]
            mounts += [one.mounts for word in ("init", "sidecars") for one in _companions(options.get(word))]
            found = _Used(set(), set())
            for each in mounts:
                if each and not is_value(each) and is_dict(each):
                    found.written.update(_made(each.values(), read_only=False))
                    found.read.update(_made(each.values(), read_only=True))
            self._known[key] = found, bool(options.get("daemon"))
        return self._known[key]


def _paths(expr: Expr) -> Iterator[str]:
    """The claims of the run to whose paths a value refers."""
    if isinstance(expr, OnVolume):
        yield from _made([expr.volume])
    for child in children(expr):
        yield from _paths(child)


def _companions(given: object) -> list[Companion]:
    several = cast("list[object]", given) if isinstance(given, (list, tuple)) else [given]
    return [one for one in several if isinstance(one, Companion)]


def _made(given: Iterable[object], *, read_only: bool | None = None) -> Iterator[str]:
    """The names of the volumes, or of those of paths, that are created for the run."""
    for one in given:
        volume = one.volume if isinstance(one, VolumePath) else one
        if isinstance(volume, NewVolume) and read_only in (None, volume.read_only):
            if type(volume.mode) is str and volume.mode == _NEVER:
                continue
            yield str(volume.name)
