"""Tasks that run when others have ended, whatever their result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.findings import control as findings
from flowdsl.compiler.lowering import split
from flowdsl.diagnostic import Diagnostic
from flowdsl.values.expr import Const, Param, leaves
from flowdsl.values.types import BOOL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from flowdsl.places.place import Place


def musts(tasks: tuple[ir.Task, ...]) -> Iterator[ir.Task]:
    """The tasks that make a graph fail with its own: one for each whose successors all tolerate its failure.

    Argo determines the phase of a graph from its last tasks. One that runs after a failure hides it, and one
    omitted because of it does not. Source: assessDAGPhase in workflow/controller/dag.go of Argo 4.1.
    """
    minded = {name for task in tasks for name in task.after}
    taken = {task.name for task in tasks}
    places = {task.name: task.place for task in tasks}
    waited = (name for task in tasks for name, results in task.ended if "Failed" in results)
    for name in dict.fromkeys(waited):
        if name not in minded:
            own = apart(f"{name}-must-succeed", taken)
            yield idle(own, places[name], (name,))


def idle(name: str, place: Place, after: tuple[str, ...] = ()) -> ir.Task:
    """A task that runs nothing, and is skipped once those before it have ended."""
    return ir.Task(name, ir.NOTHING, (), place, after, Const(False, BOOL))


def hands_on(name: str, arguments: Iterable[ir.Argument], place: Place) -> ir.Template:
    """A template without a pod that outputs the values of its arguments."""
    given = tuple(arguments)
    return ir.Template(
        name,
        tuple(ir.Input(one.name, "parameter") for one in given),
        tuple(ir.Output(one.name, "parameter", value=Param(one.name, one.type)) for one in given),
        ir.Graph((idle("nothing", place),)),
        place,
    )


def apart(name: str, taken: Collection[str]) -> str:
    """The name, or one derived from it that no task has."""
    while name in taken:
        name += "-2"
    return name


def parameters_of(tasks: Iterable[ir.Task]) -> frozenset[str]:
    """The inputs of a graph that its tasks read."""
    read = [argument.value for task in tasks for argument in task.arguments]
    read += [task.when for task in tasks if task.when is not None]
    return frozenset(leaf.name for expr in read for leaf in leaves(expr) if isinstance(leaf, Param))


def too_large(program: ir.Program) -> Iterator[Diagnostic]:
    """Graphs that would be split between a task and what runs when it has ended."""
    for template in program.templates:
        body = template.body
        if isinstance(body, ir.Graph) and len(body.tasks) > split.LIMIT and body.whole:
            ended = next(task for task in body.tasks if task.ended)
            yield Diagnostic(findings.EndsInALargeGraph(len(body.tasks), split.LIMIT), ended.place)
