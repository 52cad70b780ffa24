"""Sweeps: one task for each point of a search space, and the best of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, ParamSpec, TypeVar, cast

from flowdsl.loop import body_call, count, filled, finish, known_names, lists_of, named_lists, said, shown
from flowdsl.pipeline import Pipeline
from flowdsl.places.place import Argument, Site, here
from flowdsl.space import Grid, Learning, Method, Objective, Space
from flowdsl.step import Step
from flowdsl.tracing.call import result_of
from flowdsl.tracing.trace import Call, Loop, Trace, needed
from flowdsl.values import types as t
from flowdsl.values.expr import Best, Poison
from flowdsl.values.value import FewFields, is_value, outputs_of, value

P = ParamSpec("P")
R = TypeVar("R")


class Sweep(FewFields, Generic[R]):
    """The results of a sweep: those of the best trial, and of all."""

    __slots__ = ("_best", "_flowdsl_calls", "_results")
    _said = "a Sweep"

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


def sweep(
    body: Step[P, R] | Pipeline[P, R],
    /,
    *,
    over: Mapping[str, Space | Iterable[object]] | Grid,
    objective: Objective,
    trials: int | None = None,
    parallel: int | None = None,
    search: Method | Learning | None = None,
    seed: int = 0,
    min_success: int = 1,
    **fixed: object,
) -> Sweep[R]:
    """Run a step or pipeline once for each point of a search space, and choose the best.

    `search="grid"` takes every combination of the choices (the default when `trials` is not given),
    `"random"` draws `trials` points from `seed`: always the same ones, written into the YAML; `"sobol"` draws points
    that cover the space more evenly. `"tpe"` learns: after some random points it chooses those of each round of
    `parallel` trials by the results of earlier ones; `Tpe(...)` says more, and `Gp(...)` chooses by a Gaussian process.
    `objective` is `maximize("output")` or `minimize("output")`. A trial that fails is left out; with
    fewer than `min_success` usable ones the run fails.
    """
    trace = needed("sweep")
    site = here()
    loop = Loop("sweep", site)
    # A wrong number is recorded, and does not count as missing.
    loop.parallel = None if parallel is None else count(trace, site, "parallel", parallel) or 1
    loop.objective = objective
    call = body_call(trace, body, site)
    if call is None:
        poison = value(Poison())
        return Sweep(None, poison, poison)
    from flowdsl.points.draw import draw  # no other pipeline needs it

    over = named_lists(trace, call, over, site, fixed)
    names = known_names(trace, call, over, site)
    lists = lists_of(over)
    spaces = {name: space for name, space in lists.items() if name in names}
    loop.rows = draw(trace, loop, call.target, spaces, trials=trials, search=search, seed=seed)
    loop.minimum = _minimum(trace, loop, min_success)
    if (renamed := _objective(trace, call, objective, site)) is not None:
        loop.objective = renamed
    finish(trace, call, loop, sweep, filled(call, over, fixed), fixed)
    returns = call.target.signature.returns
    best = outputs_of(returns, lambda name, kind: Best(call, name, kind))
    return Sweep(call, value(best), value(result_of(call, returns)))


def _minimum(trace: Trace, loop: Loop, bound: object) -> int:
    least = count(trace, loop.site, "min_success", bound)
    trials = len(loop.rows or ())
    if least is not None and trials and least > trials:
        place = Argument(loop.site, "min_success")
        trace.report("TooFewTrials", place, (), bound=least, trials=trials)
    return least or 1


def _objective(trace: Trace, call: Call, objective: object, site: Site) -> Objective | None:
    """The checked objective; it names an output even if it was given as a field of a record with files."""
    place = Argument(site, "objective")
    if not isinstance(objective, Objective):
        trace.report("NotAnObjective", place, (), have=said(objective))
        return None
    returns = call.target.signature.returns
    outs = {out.name: out.type for out in t.outputs(returns)}
    metric = cast("object", objective.metric)
    named = not is_value(metric) and isinstance(metric, str)
    if named and (dashed := objective.metric.replace(".", "-")) in outs:
        objective = Objective(objective.goal, dashed, objective.site)
    asked = objective.metric if named else ""
    kind, (whole, _, key) = _measured(outs, asked), asked.rpartition(".")
    if isinstance(outs.get(whole), t.Mapping):  # whose keys are not known
        asked, kind = whole, outs[whole]
    if kind is None:
        name = "" if named and metric == "return" else objective.metric if named else shown(metric)
        trace.report(
            "UnknownMetric",
            Argument(objective.site, position=0) if name else place,
            (),
            name=name,
            step=call.target.name,
            known=(
                *outs,
                *(f"{out}.{one.name}" for out, kind in outs.items() for one in _fields(kind) if "." in name),
            ),
            inside=_holder(outs, name),
            single=t.spell(returns) if tuple(outs) == ("return",) else "",
            goal=objective.goal,
        )
    elif not isinstance(kind, t.Number):
        numbers = (one.name for one in _fields(kind) if isinstance(one.type, t.Number))
        trace.report(
            "MetricNotANumber",
            Argument(objective.site, position=0),
            (),
            name=asked,
            type=t.spell(kind),
            part=next(numbers, "") if isinstance(returns, t.Record) else "",
            key=(key if asked == whole else "NAME") if isinstance(kind, t.Mapping) else "",
        )
    return objective


def _fields(kind: t.Type) -> Sequence[t.Field]:
    return kind.fields if isinstance(kind, (t.Record, t.Entries)) else ()


def _measured(outs: Mapping[str, t.Type], metric: str) -> t.Type | None:
    """The type of an output, or of a field of a record that is one output: `metrics.loss`."""
    name, *fields = metric.split(".")
    kind = outs.get(name)
    for field in fields:
        known = {} if kind is None or t.holds_file(kind) else {one.name: one.type for one in _fields(kind)}
        kind = known.get(field)
    return kind


def _holder(outs: Mapping[str, t.Type], name: str) -> str:
    """The output that contains a metric as a field: `metrics` for `metrics.loss`, and for `loss`."""
    first, _, rest = name.rpartition(".")
    parts = ((out, {one.name for one in _fields(kind)}) for out, kind in outs.items() if first in ("", out))
    return next((out for out, fields in parts if rest in fields), "")
