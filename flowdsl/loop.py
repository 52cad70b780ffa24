"""Loops: one task for each item of a list or each trial of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

from flowdsl import types as t
from flowdsl.call import begin, bind, outputs_of, result_of
from flowdsl.expr import Best, Const, Expr, Poison
from flowdsl.lift import fits, lift
from flowdsl.pipeline import Pipeline
from flowdsl.place import Argument, Site, here
from flowdsl.space import Grid, Objective, Space
from flowdsl.step import Step
from flowdsl.trace import Call, Loop, Trace, needed
from flowdsl.value import expr_of, is_value, value

P = ParamSpec("P")
R = TypeVar("R")


class Sweep(Generic[R]):
    """What a sweep hands on: the best trial, and all of them."""

    __slots__ = ("_best", "_flowdsl_calls", "_results")

    def __init__(self, call: Call | None, best: object, results: object) -> None:
        self._flowdsl_calls = [call] if call is not None else []
        self._best = best
        self._results = results

    @property
    def best(self) -> R:
        """What the trial with the best metric returned; of equal trials the first."""
        return cast(R, self._best)

    @property
    def results(self) -> list[R]:
        """What every trial returned that succeeded, in the order of the trials."""
        return cast("list[R]", self._results)


def fan_out(
    body: Step[P, R] | Pipeline[P, R],
    /,
    *,
    over: Mapping[str, object] | Grid,
    parallel: int | None = None,
    **fixed: object,
) -> list[R]:
    """Run a step or pipeline once for each item of `over`, at most `parallel` at a time.

    `over={"shard": shards}` names a parameter and its list, known now or made by a step; several
    lists are walked together, `grid(a=[...], b=[...])` is their product. `fixed` are the arguments
    that all items share. The results come in the order of the items.
    """
    trace = needed("fan_out")
    site = here()
    loop = Loop("fan_out", site)
    loop.parallel = _parallel(trace, site, parallel)
    call = _begin(trace, body, site)
    if call is None:
        return cast("list[R]", value(Poison()))
    names = _lists(trace, call, loop, over)
    _finish(trace, call, loop, names, fixed)
    return cast("list[R]", value(result_of(call, call.target.signature.returns)))


def sweep(
    body: Step[P, R] | Pipeline[P, R],
    /,
    *,
    over: Mapping[str, Space | Iterable[object]],
    objective: Objective,
    trials: int | None = None,
    parallel: int | None = None,
    search: Literal["grid", "random"] | None = None,
    seed: int = 0,
    min_success: int = 1,
    **fixed: object,
) -> Sweep[R]:
    """Run a step or pipeline once for each point of a search space, and choose the best.

    `search="grid"` takes every combination of the choices (the default when `trials` is not given),
    `"random"` draws `trials` points from `seed`: always the same ones, written into the YAML.
    `objective` is `maximize("output")` or `minimize("output")`. A trial that fails is left out; with
    fewer than `min_success` usable ones the run fails.
    """
    trace = needed("sweep")
    site = here()
    loop = Loop("sweep", site)
    loop.parallel = _parallel(trace, site, parallel)
    loop.objective = objective
    loop.minimum = min_success
    call = _begin(trace, body, site)
    if call is None:
        poison = value(Poison())
        return Sweep(None, poison, poison)
    from flowdsl.draw import draw

    names = _known_names(trace, call, over, site)
    spaces = {name: space for name, space in over.items() if name in names}
    loop.rows = draw(trace, call.target, spaces, site, trials=trials, search=search, seed=seed)
    _objective(trace, call, objective, site)
    _finish(trace, call, loop, names, fixed)
    returns = call.target.signature.returns
    best = outputs_of(returns, lambda name, kind: Best(call, name, kind))
    return Sweep(call, value(best), value(result_of(call, returns)))


def _begin(trace: Trace, body: object, site: Site) -> Call | None:
    if isinstance(body, Pipeline):
        from flowdsl.tracing import trace_graph

        trace_graph(trace, body._definition, site)
    elif not isinstance(body, Step):
        trace.report("NotABody", Argument(site, position=0), (), have=type(body).__name__)
        return None
    return begin(trace, body, site)


def _finish(
    trace: Trace, call: Call, loop: Loop, names: frozenset[str], fixed: Mapping[str, object]
) -> None:
    call.loop = loop
    call.arguments = bind(trace, call.target, (), fixed, call.site, names)
    trace.graph.calls.append(call)


def _parallel(trace: Trace, site: Site, parallel: object) -> int | None:
    if parallel is None:
        return None
    if isinstance(parallel, bool) or not isinstance(parallel, int) or parallel < 1:
        trace.report("BadCount", Argument(site, "parallel"), (), word="parallel", have=repr(parallel))
        return None
    return parallel


def _known_names(trace: Trace, call: Call, over: Mapping[str, object], site: Site) -> frozenset[str]:
    signature = call.target.signature
    known = tuple(parameter.name for parameter in signature.parameters)
    for name in over:
        if name not in signature.by_name:
            place = Argument(site, "over", part=f"key:{name}")
            trace.report("UnknownOver", place, (), step=call.target.name, name=name, known=known)
    if not over:
        trace.report("EmptyOver", Argument(site, "over"))
    return frozenset(name for name in over if name in signature.by_name)


def _lists(trace: Trace, call: Call, loop: Loop, over: object) -> frozenset[str]:
    site = loop.site
    lists = over.lists if isinstance(over, Grid) else over
    if not isinstance(lists, Mapping):
        have = "a run-time value" if is_value(over) else type(over).__name__
        trace.report("OverNotNamed", Argument(site, "over"), (), have=have)
        return frozenset()
    names = _known_names(trace, call, lists, site)
    columns = {name: _column(trace, call, name, lists[name], site) for name in lists if name in names}
    if any(column is None for column in columns.values()):
        loop.rows = []
        return names
    known = {name: column for name, column in columns.items() if isinstance(column, list)}
    if isinstance(over, Grid) and len(known) < len(columns):
        dynamic = next(name for name in columns if name not in known)
        trace.report("GridRunTime", Argument(site, "over", part=f"item:{dynamic}"), (), name=dynamic)
    elif len(known) == len(columns):
        loop.rows = _product(known) if isinstance(over, Grid) else _zip(trace, site, known)
        if not loop.rows and columns:
            trace.report("EmptyOver", Argument(site, "over"))
    else:
        loop.lists = {
            name: column if not isinstance(column, list) else _constant(trace, call, name, column, site)
            for name, column in columns.items()
            if column is not None
        }
    return names


def _column(
    trace: Trace, call: Call, name: str, items: object, site: Site
) -> list[Expr] | Expr | None:
    """The items for one parameter: a list of expressions, a run-time list, or None after a mistake."""
    parameter = call.target.signature.by_name[name]
    place = Argument(site, "over", part=f"item:{name}")
    if isinstance(parameter.type, t.Unsupported):
        return None
    if is_value(items):
        expr = expr_of(items)  # type: ignore[arg-type]
        if isinstance(expr, Poison):
            return None
        if isinstance(expr.type, (t.Sequence, t.Json)) and fits(expr.type, t.Sequence(parameter.type)):
            return expr
        trace.report(
            "OverNotAList", place, (), name=name, have=t.spell(expr.type), want=f"list[{t.spell(parameter.type)}]"
        )
        return None
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        trace.report(
            "OverNotAList",
            place,
            (),
            name=name,
            have=type(items).__name__,
            want=f"list[{t.spell(parameter.type)}]",
        )
        return None

    def complain(kind: str, **data: Any) -> None:
        if kind == "WrongType":
            data = {"parameter": name, "step": call.target.name, **data}
        trace.report(kind, place, (), **data)

    column = [lift(item, parameter.type, complain) for item in items]
    return None if any(isinstance(item, Poison) for item in column) else column


def _constant(trace: Trace, call: Call, name: str, column: list[Expr], site: Site) -> Expr:
    if all(isinstance(item, Const) for item in column):
        kind = t.Sequence(call.target.signature.by_name[name].type)
        return Const([item.value for item in column if isinstance(item, Const)], kind)
    trace.report("GridRunTime", Argument(site, "over", part=f"item:{name}"), (), name=name)
    return Poison()


def _zip(trace: Trace, site: Site, columns: dict[str, list[Expr]]) -> list[dict[str, Expr]]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        trace.report("UnevenLists", Argument(site, "over"), (), lengths=said)
        return []
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _product(columns: dict[str, list[Expr]]) -> list[dict[str, Expr]]:
    rows: list[dict[str, Expr]] = [{}]
    for name, column in columns.items():
        rows = [{**row, name: item} for row in rows for item in column]
    return rows


def _objective(trace: Trace, call: Call, objective: object, site: Site) -> None:
    place = Argument(site, "objective")
    if not isinstance(objective, Objective):
        trace.report("NotAnObjective", place, (), have=type(objective).__name__)
        return
    outs = {out.name: out.type for out in t.outputs(call.target.signature.returns)}
    kind = outs.get(objective.metric)
    if kind is None:
        name = "" if objective.metric == "return" else objective.metric
        trace.report(
            "UnknownMetric",
            Argument(objective.site, position=0) if name else place,
            (),
            name=name,
            step=call.target.name,
            known=tuple(outs),
        )
    elif not isinstance(kind, t.Number):
        trace.report(
            "MetricNotANumber",
            Argument(objective.site, position=0),
            (),
            name=objective.metric,
            type=t.spell(kind),
        )

