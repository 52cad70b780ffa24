"""Steps that call other steps, whose functions then run in one pod; pipelines that name a step and do not call it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.tree import inside, local_names
from flowdsl.compiler.findings.bodies import NotCalled, OptionsLeftOut
from flowdsl.diagnostic import Diagnostic
from flowdsl.pipeline import Pipeline
from flowdsl.step import Step
from flowdsl.values.later import known_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.carry.carry import ModuleSource
    from flowdsl.compiler.carry.tree import Function
    from flowdsl.compiler.checks.body import Body
    from flowdsl.step import StepDef

_OF_THE_TASK = frozenset(("image", "name"))
"""Options that do not affect what a function needs: FD767 reports what an image lacks."""


def calls_of(body: Body) -> Iterator[Diagnostic]:
    """Calls of other steps in a step whose options have an effect, each reported once."""
    found: dict[str, StepDef] = {}
    for name in body.names:
        if type(made := body.module.namespace.get(name)) is Step:
            found[name] = made._definition  # pyright: ignore[reportPrivateUsage] -- it has no public names
    for one in ast.walk(body.node) if found else ():
        if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Name):
            continue
        called = found.pop(one.func.id, None)
        if called is None:
            continue
        asked = known_options(called.options)
        own = known_options(body.step.options)
        left = [word for word in asked if word not in _OF_THE_TASK and asked[word] != own.get(word)]
        if left:
            finding = OptionsLeftOut(one.func.id, body.step.name, ", ".join(f"`{word}`" for word in left))
            yield Diagnostic(finding, body.module.span(one.func))


def uncalled(node: Function, module: ModuleSource) -> Iterator[Diagnostic]:
    """Statements of a pipeline that name a step or pipeline, perhaps with options, but do not call it."""
    own: frozenset[str] | None = None
    todo: list[ast.stmt] = [*node.body]
    while todo:
        one = todo.pop()
        match one:
            case ast.Expr(ast.Name(name) | ast.Call(ast.Attribute(ast.Name(name), "options")) as shown) if (
                type(module.namespace.get(name)) in (Step, Pipeline)
            ):
                own = frozenset(local_names(node)) if own is None else own
                if name not in own:
                    yield Diagnostic(NotCalled(name, isinstance(shown, ast.Call)), module.span(shown))
            case _:
                todo.extend(inside(one))
