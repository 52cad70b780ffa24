"""A search that learns, as a graph of rounds: before each round a pod chooses its points.

The graph is written out, one round after the other: a template that calls itself would have nodes with ever longer
names, and Argo ends such calls at a depth of 100. What is known so far travels as a parameter, so no volume is needed,
no two pods write at the same time, and the same results lead to the same points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.lowering.ask_script import POINTS, ask
from flowdsl.compiler.lowering.pick_script import PYTHON
from flowdsl.compiler.ports import IN, OUT
from flowdsl.points.learnt import rounds_of
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Op, Out, Param

if TYPE_CHECKING:
    from flowdsl.compiler.lowering.ask_script import Texts
    from flowdsl.tracing.trace import Loop
    from flowdsl.values.expr import Expr

_RETRIES = ir.Retry(2, policy="OnError")
"""The retries of a pod that chooses points: hours of trials must not be lost with the node that it ran on."""


def learning(name: str, trials: ir.Template, asks: str, loop: Loop, texts: Texts) -> list[ir.Template]:
    """The templates of a sweep of that name: rounds run `trials`, and `asks` chooses the points."""
    assert loop.learnt is not None
    assert loop.objective is not None
    assert loop.rows is not None
    place, count = trials.place, len(loop.rows)
    rounds = rounds_of(count, loop.learnt.startup, loop.learnt.size)
    tasks: list[ir.Task] = []
    results: list[Expr] = []
    told: Expr = Const([], t.JSON)
    for number in range(1, rounds + 1):
        points = f"points-{number}"
        known = (ir.Argument("told", "parameter", told, t.JSON), _results(results[-1:]))
        after = (tasks[-1].name,) if tasks else ()
        tasks.append(ir.Task(points, asks, known, place, after))
        given = (
            ir.Argument(POINTS, "parameter", Out(points, "points", t.JSON), t.JSON),
            *(ir.Argument(one.name, one.kind, Param(one.name, t.TEXT), t.TEXT) for one in trials.inputs),
        )
        tasks.append(ir.Task(f"round-{number}", trials.name, given, place, after=(points,)))
        told = Out(points, "told", t.JSON)
        results.append(Out(f"round-{number}", "results", t.JSON))
    # With a default: if such an expression fails, the tasks after it would never start.
    whole = ir.Output("results", "parameter", value=Op("concat", tuple(results), t.JSON), default="[]")
    ins = tuple(ir.Input(one, "text", f"{IN}/{one}") for one in ("told", "results"))
    outs = tuple(ir.Output(one, "parameter", f"{OUT}/{one}") for one in ("points", "told"))
    source = ask(loop.learnt, loop.objective, texts, count)
    environment = ir.Environment(loop.learnt.image or PYTHON)
    settings = ir.Settings(environment=environment, control=ir.Control(retries=_RETRIES))
    pod = ir.Pod((Const("python3", t.TEXT),), source, (), ())
    chosen = ir.Input(POINTS, "parameter")
    return [
        ir.Template(name, trials.inputs, (whole,), ir.Graph(tuple(tasks)), place),
        trials._replace(inputs=(chosen, *trials.inputs)),
        ir.Template(asks, ins, outs, pod, place, settings=settings),
    ]


def _results(last: list[Expr]) -> ir.Argument:
    return ir.Argument("results", "parameter", last[0] if last else Const([], t.JSON), t.JSON)
