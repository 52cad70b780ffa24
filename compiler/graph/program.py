"""A program as a picture of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.graph.picture import AT_THE_END, Node, Picture, also_named, short, times
from flowdsl.values.expr import (
    Cell,
    Const,
    Either,
    Expr,
    Get,
    Item,
    Join,
    Op,
    Out,
    Param,
    Ran,
    RunField,
    Status,
)
from flowdsl.values.types import JSON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flowdsl.compiler.graph.picture import Graph


def picture(program: ir.Program) -> Picture:
    """The picture of a program; loops and sub-pipelines contain the tasks they run."""
    templates = {template.name: template for template in program.templates}
    nodes, edges = _graph(templates, _body(templates, program.entrypoint), "")
    if program.exit is not None:
        inside = _graph(templates, _body(templates, program.exit), f"{AT_THE_END}/")
        nodes = (*nodes, Node(AT_THE_END, AT_THE_END, "", "", "", *inside))
    return Picture(program.name, nodes, edges)


def _body(templates: dict[str, ir.Template], name: str) -> ir.Graph:
    body = templates[name].body
    assert isinstance(body, ir.Graph)
    return body


def _graph(templates: dict[str, ir.Template], graph: ir.Graph, head: str) -> Graph:
    idle = {task.name: task.before for task in graph.tasks if _idle(templates, task)}
    tasks = [task for task in graph.tasks if task.name not in idle]
    nodes = tuple(_node(templates, task, head) for task in tasks)
    edges = ((before, task.name) for task in tasks for before in _shown(task.before, idle))
    return nodes, tuple((head + before, head + after) for before, after in dict.fromkeys(edges))


def _shown(before: Iterable[str], idle: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The tasks before another, with those before them in the place of idle ones."""
    for name in before:
        yield from _shown(idle[name], idle) if name in idle else (name,)


def _idle(templates: dict[str, ir.Template], task: ir.Task) -> bool:
    """Whether a task runs nothing, or an empty graph."""
    if task.template == ir.NOTHING:
        return True
    body = templates[task.template].body
    return (
        isinstance(body, ir.Graph)
        and bool(body.tasks)
        and all(one.template == ir.NOTHING for one in body.tasks)
    )


def _node(templates: dict[str, ir.Template], task: ir.Task, head: str) -> Node:
    identity = head + task.name
    runs = also_named(task.name, task.template)
    when = "" if task.when is None else short(_spelled(task.when))
    often = "" if task.loop is None else _times(task.loop, None)
    body = templates[task.template].body
    if isinstance(body, ir.Graph) and body.around:
        pods = max(templates[one.template].settings.distributed.pods for one in body.tasks)
        if pods:
            return Node(identity, task.name, runs, f"on {pods} pods at once" if pods > 1 else "", when)
        return _node(templates, body.tasks[0]._replace(name=task.name, when=task.when), head)
    if not isinstance(body, ir.Graph):
        return Node(identity, task.name, runs, often, when)
    if body.tasks and (loop := body.tasks[0].loop) is not None:
        # A loop is a graph of one task: what that runs is drawn in the loop itself.
        often, runs = _times(loop, body.parallelism), ""
        inner = templates[body.tasks[0].template].body
        if isinstance(inner, ir.Graph) and not inner.around:
            body, runs = inner, body.tasks[0].template
        else:
            body = ir.Graph((body.tasks[0]._replace(loop=None),))
    return Node(identity, task.name, runs, often, when, *_graph(templates, body, f"{identity}/"))


def _times(loop: ir.Loop, parallel: int | None) -> str:
    return times(None if loop.items is None else len(loop.items), parallel)


def _spelled(expr: Expr) -> str:
    """A condition as it was probably written."""
    match expr:
        case Const(value):
            return repr(value)
        case Param(name) | Item(name) | Ran(name):
            return name or "item"
        case RunField(name):
            return f"run.{name}"
        case Status(task):
            return f"{task}.status"
        case Out(task, name, kind):
            return f"{task}{_field('return' if name == 'results' and kind == JSON else name)}"
        case Get(of, str() | int() as key):
            return f"{_operand(of)}[{key!r}]"
        case Cell(Out(str() as task), None, name):
            return f"{task.removesuffix('-best')}.best{_field(name)}"
        case Cell(rows, int() as index, name):
            return f"{_operand(rows)}[{index}]{_field(name)}"
        case Either((made, Const(value))) if not value or value != value:
            return _spelled(made)  # the other one is the default where the task did not run
        case Either(choices):
            return f"either({', '.join(map(_spelled, choices))})"
        case Join(several):
            inside = (one if isinstance(one, str) else f"{{{_spelled(one)}}}" for one in several)
            return f'f"{"".join(inside)}"'
        case Op("not", (asked,)):
            return f"not {_operand(asked)}"
        case Op("?:", (asked, one, two)):
            return f"{_operand(one)} if {_operand(asked)} else {_operand(two)}"
        case Op(sign, args):
            return f" {sign} ".join(map(_operand, args))
        case _:
            return "…"


def _operand(expr: Expr) -> str:
    return f"({_spelled(expr)})" if isinstance(expr, Op) else _spelled(expr)


def _field(name: str) -> str:
    """The part of an output's name that the user wrote; empty for a step with one result."""
    return "" if name == "return" else f".{name}"
