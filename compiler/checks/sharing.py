"""ReadWriteOnce claims that steps write to at the same time.

The scheduler puts two pods of one ReadWriteOnce claim on different nodes, where the second one then waits for a
volume that cannot be attached. Of a ReadWriteOncePod claim it keeps the second pod pending, so that one follows the
other, but for daemons: these run as long as what waits for them. Source: Kubernetes, persistent volumes, access
modes; both were measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.checks.kinds import serves
from flowdsl.compiler.findings.data import SharedLoop, SharedWrite
from flowdsl.compiler.options.placement import LABELS
from flowdsl.compiler.options.reading import Wrong
from flowdsl.compiler.options.store import nearest
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.pipeline import PipelineDef
from flowdsl.step import StepDef
from flowdsl.tracing.trace import Call, regions
from flowdsl.values import types as t
from flowdsl.values.expr import Best, Out, Rows, leaves, negate
from flowdsl.values.later import known_options
from flowdsl.values.lift import is_dict
from flowdsl.volume import Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.options.store import Stored
    from flowdsl.tracing.trace import Graph, Trace
    from flowdsl.values.expr import Expr

Claims = dict[str, Volume]

_NONE: Claims = {}
_WRITTEN = frozenset(("mounts", "store"))
"""The options through which a step writes to a claim."""
_HOST = LABELS["host"]


def sharing(trace: Trace) -> Iterator[Diagnostic]:
    """ReadWriteOnce claims that are mounted for writing by pods that may run at the same time."""
    calls = [*trace.calls]
    targets = {id(call.target): call.target for call in calls}
    roots = [graph.owner for graph in trace.graphs.values() if id(graph.owner) not in targets]
    owners = (*roots, *targets.values(), *(call for call in calls if call.options))
    if all(_WRITTEN.isdisjoint(one.options) for one in owners):
        return
    if any(known_options(owner.options).get("parallelism") == 1 for owner in roots):
        return  # one pod at a time
    known: dict[int, Claims] = {}
    around = _stores(roots, trace)
    for graph in trace.graphs.values():
        writers: dict[str, list[Call]] = {}
        modes: dict[str, str] = {}
        for call in graph.calls:
            for name, volume in _written(call, graph, trace, around, known).items():
                writers.setdefault(name, []).append(call)
                if volume.mode == "ReadWriteOnce" and _at_once(call):
                    related = (Related(volume.site, "declared here"),)
                    yield Diagnostic(SharedLoop(call.target.name, name), call.site, related)
                modes[name] = volume.mode
        several = {name: calls for name, calls in writers.items() if len(calls) > 1}
        if several:
            yield from _pairs(graph, several, modes)


def _pairs(graph: Graph, writers: dict[str, list[Call]], modes: dict[str, str]) -> Iterator[Diagnostic]:
    """By claim, the calls that neither wait for nor exclude an earlier one, or that wait for a daemon."""
    before = ancestors(graph)
    position_of = {id(call): position for position, call in enumerate(graph.calls)}
    for name, calls in writers.items():
        mode = modes[name]
        for count, call in enumerate(calls):
            for other in calls[:count]:
                ordered = bool(before[id(call)] >> position_of[id(other)] & 1)
                daemon = isinstance(other.target, StepDef) and serves(other.target)
                apart = daemon if mode == "ReadWriteOncePod" else not _together(call, other)
                if (daemon or not ordered) and apart and not _exclusive(call, other):
                    finding = SharedWrite(call.target.name, other.target.name, name, mode, daemon and ordered)
                    may = "runs" if daemon and ordered else "may run"
                    related = (Related(other.site, f"this {may} at the same time"),)
                    yield Diagnostic(finding, call.site, related)
                    break


def _stores(roots: list[PipelineDef], trace: Trace) -> dict[int, Stored | None]:
    """The default stores for the files of steps, by the ids of their pipelines."""
    found: dict[int, Stored | None] = {}
    todo: list[tuple[PipelineDef, Stored | None]] = [(owner, None) for owner in roots]
    while todo:
        owner, outside = todo.pop()
        graph = trace.graphs.get(id(owner))
        if id(owner) in found or graph is None:
            continue
        found[id(owner)] = inside = _store(outside, owner.options)
        todo += [(call.target, inside) for call in graph.calls if isinstance(call.target, PipelineDef)]
    return found


def _store(around: Stored | None, *levels: Mapping[str, Any]) -> Stored | None:
    try:
        return nearest(around, *levels)
    except Wrong:
        return None  # this is reported elsewhere


def _written(
    call: Call, graph: Graph, trace: Trace, around: dict[int, Stored | None], known: dict[int, Claims]
) -> Claims:
    """The ReadWriteOnce claims that the called step or pipeline writes to, and its ReadWriteOncePod claims."""
    target = call.target
    if isinstance(target, PipelineDef):
        below = trace.graphs.get(id(target))
        if below is None:
            return {}
        if id(target) not in known:
            found: Claims = {}
            known[id(target)] = found
            for inner in below.calls:
                found.update(_written(inner, below, trace, around, known))
        return known[id(target)]
    volumes: list[object] = []
    if "mounts" in target.options or "mounts" in call.options:
        mounts: Any = known_options(call.all_options).get("mounts")
        if is_dict(mounts):
            volumes += [what.volume if type(what) is VolumePath else what for what in mounts.values()]
    stored = _store(around.get(id(graph.owner)), call.options, target.options)
    if stored is not None and t.holds_file(target.signature.returns):
        volumes.append(stored[1])
    return (
        _NONE
        if not volumes
        else {
            one.name: one
            for one in volumes
            if isinstance(one, Volume)
            and type(cast("object", one.name)) is str
            and type(one.mode) is str
            and (one.mode == "ReadWriteOncePod" or (one.mode == "ReadWriteOnce" and not one.read_only))
        }
    )


def _at_once(call: Call) -> bool:
    """Whether a call is a loop whose items may run in parallel."""
    loop = call.loop
    if loop is None or loop.parallel == 1 or _pinned(call) is not None:
        return False
    return loop.rows is None or len(loop.rows) > 1


def ancestors(graph: Graph) -> dict[int, int]:
    """For each call, those that have ended when it starts, as a bit set of their positions."""
    found: dict[int, int] = {}
    bits = {id(call): 1 << position for position, call in enumerate(graph.calls)}
    for call in graph.calls:
        mask = 0
        for one in _waits(call):
            mask |= found.get(id(one), 0) | bits.get(id(one), 0)
        found[id(call)] = mask
    return found


def _waits(call: Call) -> Iterator[Call]:
    yield from call.after
    for region in regions(call.region):
        if region.ended is not None:
            yield region.ended
    for expr in (*call.values, *_conditions(call)):
        for leaf in leaves(expr):
            if isinstance(leaf, (Out, Rows, Best)) and isinstance(leaf.task, Call):
                yield leaf.task


def _exclusive(one: Call, other: Call) -> bool:
    """Whether only one of two calls runs, since their branches exclude each other."""
    theirs = _conditions(other)
    return any(
        condition == negate(their) or their == negate(condition)
        for condition in _conditions(one)
        for their in theirs
    )


def _conditions(call: Call) -> list[Expr]:
    return [region.condition for region in regions(call.region)]


def _together(one: Call, other: Call) -> bool:
    """Whether two calls are pinned to the same node."""
    node = _pinned(one)
    return node is not None and node == _pinned(other)


def _pinned(call: Call) -> object:
    """The only node that a call can run on, if there is one."""
    if isinstance(call.target, PipelineDef):
        return None
    node: object = known_options(call.all_options).get("node")
    labels = node.items() if is_dict(node) else ()
    return next((text for key, text in labels if LABELS.get(str(key), key) == _HOST), None)
