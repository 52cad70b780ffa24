"""Templates that are written inside of a task, where too many would stand by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.steps.leaves import rewritten
from flowdsl.values.expr import Param, substitute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.values.expr import Expr

MOST = 200
"""Maximum number of templates of one workflow. Source: Argo's full CRDs, maxItems of templates."""


def inlined(program: ir.Program) -> tuple[ir.Program, frozenset[str]]:
    """The templates to be written inline in the one task that uses them, so that at most 200 others remain.

    Also returns the program, in which their inputs have names that nothing around them has. To Argo an inline
    template is text of its task: inputs of the graph around it are substituted first, a loop knows no inputs,
    and a WorkflowTemplate stores it by the name of the task. Source: Argo's full CRDs, maxItems of templates,
    which do not count `inline`; ProcessArgs, processItem and resolveTemplateReference of Argo 4.1.
    """
    excess = sum(not isinstance(one.body, ir.Reference) for one in program.templates) - MOST
    if excess <= 0:
        return program, frozenset()
    users: dict[str, list[tuple[ir.Task, ir.Template]]] = {}
    names: dict[str, int] = {}
    for template in program.templates:
        if isinstance(template.body, ir.Graph):
            for task in template.body.tasks:
                users.setdefault(task.template, []).append((task, template))
                names[task.name] = names.get(task.name, 0) + 1
    once = [one.name for one in program.templates if len(users.get(one.name, ())) == 1]
    pods = {
        one.name: one.inputs
        for one in program.templates
        if not isinstance(one.body, (ir.Graph, ir.Reference)) and not one.memo
    }
    alone = [name for name in once if name in pods and _alone(users[name][0][0], names)]
    chosen = frozenset(alone[-excess:])
    renamed: dict[str, dict[str, str]] = {}
    for name in chosen:
        task, around = users[name][0]
        taken = {one.name for one in around.inputs}
        renamed[name] = {one.name: f"{task.name}-{one.name}" for one in pods[name] if one.name in taken}
    templates = tuple(_renamed(one, renamed) for one in program.templates)
    return program._replace(templates=templates), chosen


def _alone(task: ir.Task, names: Mapping[str, int]) -> bool:
    return task.loop is None and names[task.name] == 1


def _renamed(template: ir.Template, names: Mapping[str, Mapping[str, str]]) -> ir.Template:
    """A template with the inputs of inline templates renamed."""
    body = template.body
    if isinstance(body, ir.Graph):
        tasks = tuple(
            task._replace(
                arguments=tuple(
                    one._replace(name=names[task.template].get(one.name, one.name)) for one in task.arguments
                )
            )
            if names.get(task.template)
            else task
            for task in body.tasks
        )
        return template._replace(body=body._replace(tasks=tasks))
    new = names.get(template.name)
    if not new:
        return template

    def change(expr: Expr) -> Expr | None:
        return expr.changed(name=new[expr.name]) if isinstance(expr, Param) and expr.name in new else None

    return template._replace(
        inputs=tuple(one._replace(name=new.get(one.name, one.name)) for one in template.inputs),
        outputs=tuple(
            one if one.value is None else one._replace(value=substitute(one.value, change))
            for one in template.outputs
        ),
        body=rewritten(body, change),
    )
