"""The folders that hold the files of a loop's items: those of the tasks inside that may have made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.forms import File, Form, Gathered, Parts, part_types, port_names, ports
from flowdsl.grammar.named import NamedTuple
from flowdsl.pipeline import PipelineDef
from flowdsl.values import types as t
from flowdsl.values.expr import Cell, Const, Either, Expr, Join, Op, Out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lowering.plans import CallPlan, GraphPlan


class Folder(NamedTuple):
    """The files of an output of one task, below the place of a loop: `at` are the names of the tasks on the way.

    `nested`: it has more than one entry for each item.
    """

    at: str
    output: str
    maker: CallPlan
    nested: bool = False


class Elsewhere(Exception):
    """A file that no task of the loop makes."""


def folders(loop: CallPlan, output: str, form: Form, kind: t.Type) -> Iterator[Folder]:
    """Those for an output of the items of a loop. Raises Elsewhere."""
    for port in _leading(output, form, kind):
        yield from _of(loop, port)


def _leading(name: str, form: Form, kind: t.Type) -> Iterator[str]:
    """The ports of a value that say where files are."""
    match form:
        case File():
            yield name
        case Gathered(item) if t.holds_file(item):
            yield name
        case Parts(_, forms):
            for part, inner, one in zip(port_names(form), forms, part_types(kind, form), strict=True):
                yield from _leading(f"{name}-{part}", inner, one)
        case _:
            pass


def _of(plan: CallPlan, port: str) -> Iterator[Folder]:
    """Those of the files that an output of a call, or of the items of a loop, may lead to."""
    if plan.sub is None:
        target = plan.call.target
        if isinstance(target, PipelineDef) or plan.store is not None:
            return
        yield Folder("", port, plan)
        return
    for name, (form, values, _) in plan.sub.results.items():
        for (one, _), value in zip(ports(name, form), values, strict=True):
            if one == port:
                yield from _behind(value, plan.sub)


def _behind(value: Expr, graph: GraphPlan) -> Iterator[Folder]:
    """Those of the files that a text of a graph may lead to: a key, or rows with keys."""
    match value:
        case Const():
            pass
        case Op("?:", (_, *choices)) | Either(choices):
            for one in choices:
                yield from _behind(one, graph)
        case Join((one,)) if not isinstance(one, str):
            yield from _behind(one, graph)
        case Cell(Out(task) | Either((Out(task), *_)), _, name) | Out(task, name):
            maker = next((one for one in graph.calls if task in (one.name, one.best)), None)
            if maker is None:
                raise Elsewhere
            rows = isinstance(value, Out) and task == maker.name and maker.call.loop is not None
            nested = maker.call.loop is not None
            for port in _ports(maker) if rows else (name,):
                for folder in _of(maker, port):
                    yield folder._replace(at=f".{maker.name}{folder.at}", nested=nested or folder.nested)
        case _:
            raise Elsewhere


def _ports(loop: CallPlan) -> Iterator[str]:
    """The ports of the items of a loop that say where files are."""
    for out in t.outputs(loop.call.target.signature.returns):
        form = File(True) if loop.sub is None else loop.sub.results[out.name].form
        if t.holds_file(out.type):
            yield from _leading(out.name, form, out.type)
