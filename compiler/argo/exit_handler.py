"""The exit handler of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.values.expr import Param, Stored, substitute

if TYPE_CHECKING:
    from flowdsl.values.expr import Expr


def of_run(program: ir.Program) -> ir.Program:
    """The program with an exit handler that reads the parameters of the run, in place of inputs for them.

    Of a template, `onExit` does not get the values that the template gives to its parameters.
    Source: Argo Workflows, ValidateWorkflow, which checks it with the arguments of the run alone.
    """
    templates = (_reading(one) if one.name == program.exit else one for one in program.templates)
    return program._replace(templates=tuple(templates))


def _reading(template: ir.Template) -> ir.Template:
    assert isinstance(template.body, ir.Graph)
    files = tuple(one for one in template.inputs if one.kind == "artifact")
    tasks = tuple(map(_changed, template.body.tasks))
    return template._replace(inputs=files, body=template.body._replace(tasks=tasks))


def _changed(task: ir.Task) -> ir.Task:
    arguments = tuple(
        one._replace(value=substitute(one.value, _in_file if one.kind == "artifact" else _in_value))
        for one in task.arguments
    )
    return task._replace(arguments=arguments, when=task.when and substitute(task.when, _in_value))


def _in_value(expr: Expr) -> Expr | None:
    return expr.changed(of_run=True) if isinstance(expr, Param) else _in_file(expr)


def _in_file(expr: Expr) -> Expr | None:
    """A file outside of the run, whose texts may have parameters."""
    if not isinstance(expr, Stored):
        return None
    return expr.changed(texts=tuple([substitute(one, _in_value) for one in expr.texts]))
