"""Clocks and random numbers in pipelines: they are read once, at compile time, and are the same in every run."""

from __future__ import annotations

import ast
import sys
from types import FunctionType
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.nondeterministic import anew, leads_to_them
from flowdsl.compiler.carry.scan import all_names
from flowdsl.compiler.carry.tree import Function, bound_name, calls, defaults, nodes, touched
from flowdsl.compiler.findings.branches import TakenOnce
from flowdsl.diagnostic import Diagnostic
from flowdsl.pipeline import PipelineDef

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.places.source import SourceFile, Sources
    from flowdsl.tracing.trace import Trace

_Assigned = ast.Assign | ast.AnnAssign


def taken_once(trace: Trace, sources: Sources) -> Iterator[Diagnostic]:
    """Calls in the bodies of pipelines, and in the module-level code that these use."""
    seen: set[int] = set()
    helpers: set[int] = set()
    steps: dict[int, FunctionType] = {}
    assigned: dict[str, dict[str, list[_Assigned]]] = {}  # by file, and by the assigned names
    for graph in trace.graphs.values():
        function = graph.owner.plain
        file = sources.file(graph.owner.site.code.co_filename)
        if file is None or type(function) is not FunctionType:
            continue
        if file.filename not in assigned:
            assigned[file.filename] = _assigned(file)
        for one in _called(function, helpers):
            names = _known(one, file)
            for call in anew(_calls(one, file, assigned[file.filename], names), names, file.text):
                if id(call) not in seen:
                    seen.add(id(call))
                    yield Diagnostic(TakenOnce(f"{ast.unparse(call.func)}(...)"), file.node(call))
        for task in graph.calls:
            step = task.target.plain
            if not isinstance(task.target, PipelineDef) and type(step) is FunctionType:
                steps[id(step)] = step
    for function in steps.values():
        yield from _of_a_step(function, sources)


def _called(function: FunctionType, seen: set[int]) -> Iterator[FunctionType]:
    """The function of a pipeline, and the plain functions of its file that it uses, directly or indirectly."""
    todo = [function]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        named = (one.__globals__.get(name) for name in all_names(one.__code__))
        file = one.__code__.co_filename
        todo += [each for each in named if type(each) is FunctionType and each.__code__.co_filename == file]


def _of_a_step(function: FunctionType, sources: Sources) -> Iterator[Diagnostic]:
    """Calls in the defaults of a step, which become values in the YAML if a call omits them."""
    file = (
        sources.file(function.__code__.co_filename)
        if function.__defaults__ or function.__kwdefaults__
        else None
    )
    definition = None if file is None else file.function(function.__code__)
    if file is None or definition is None:
        return
    for call in anew(
        (each for part in defaults(definition) for each in calls(ast.Expr(part))),
        function.__globals__,
        file.text,
    ):
        yield Diagnostic(TakenOnce(f"{ast.unparse(call.func)}(...)"), file.node(call))


def _assigned(file: SourceFile) -> dict[str, list[_Assigned]]:
    found: dict[str, list[_Assigned]] = {}
    for node in file.tree.body if file.tree is not None else ():
        if isinstance(node, _Assigned):
            for name, _ in touched(node):
                found.setdefault(name, []).append(node)
    return found


def _known(function: FunctionType, file: SourceFile) -> Mapping[str, object]:
    """The namespace of a function: its module's, and its own imports."""
    code = function.__code__
    definition = file.function(code)
    if definition is None or not {*code.co_names} & {"random", "time", "datetime", "uuid", "secrets"}:
        return function.__globals__
    own: dict[str, object] = {}
    for node in nodes(definition.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                own[bound_name(alias, node)] = sys.modules.get(name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                own[bound_name(alias, node)] = getattr(sys.modules.get(node.module), alias.name, None)
    return {**function.__globals__, **own}


def _calls(
    function: FunctionType,
    file: SourceFile,
    assigned: Mapping[str, list[_Assigned]],
    known: Mapping[str, object],
) -> Iterator[ast.Call]:
    """The relevant calls of a function, and of the module-level assignments that it uses."""
    code = function.__code__
    names = all_names(code)
    definition = file.function(code)
    head = [] if definition is None else _head(definition)
    above = dict.fromkeys(one.id for part in head for one in ast.walk(part) if isinstance(one, ast.Name))
    for name in names | above:
        for node in assigned.get(name, ()):
            yield from calls(node)
    for part in head:
        yield from calls(ast.Expr(part))
    if definition is not None and any(map(leads_to_them, map(known.get, {*names, *code.co_varnames}))):
        yield from calls(definition)  # avoid walking a long pipeline for nothing


def _head(definition: Function) -> list[ast.expr]:
    """The expressions that the definition of a function evaluates: its defaults, and its decorators' options."""
    return [*defaults(definition), *definition.decorator_list]
