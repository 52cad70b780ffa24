"""Gives tasks that wait only for cached steps with retries one more task to wait for, which runs nothing.

Argo attaches a task to the last attempts of what it waits for. A result from the cache has no attempts, so a task
with nothing else before it is forgotten, and the run never ends. Source: getOutboundNodes in
workflow/controller/operator.go of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.lowering.ends import apart, idle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def attached(templates: list[ir.Template]) -> list[ir.Template]:
    """The templates, with such a task in each graph that needs one."""
    if not any(_vanishes(one) for one in templates):
        return templates
    hits = _Hits(templates)
    return [
        one._replace(body=_begun(one.body, hits)) if isinstance(one.body, ir.Graph) else one
        for one in templates
    ]


def _vanishes(template: ir.Template) -> bool:
    return template.memo is not None and template.settings.control.retries is not None


def _begun(graph: ir.Graph, hits: _Hits) -> ir.Graph:
    called = {task.name: task.template for task in graph.tasks}
    lost = {task.name for task in graph.tasks if hits.all(called, task.before)}
    if not lost:
        return graph
    first = next(task for task in graph.tasks if task.name in lost)
    name = apart("start", called)
    tasks = (task._replace(after=(*task.after, name)) if task.name in lost else task for task in graph.tasks)
    return graph._replace(tasks=(idle(name, first.place), *tasks))


class _Hits:
    """Which templates may end without any attempt."""

    def __init__(self, templates: list[ir.Template]) -> None:
        self.templates = {one.name: one for one in templates}
        self.known: dict[str, bool] = {}

    def all(self, called: Mapping[str, str], names: Iterable[str]) -> bool:
        """Whether there are tasks of these names, and all of them may end so; `called` are templates by task."""
        found = [called[name] for name in names if name in called]
        return bool(found) and all(map(self.ends, found))

    def ends(self, name: str) -> bool:
        """Whether a template may end so."""
        template = self.templates.get(name)
        if template is None:
            return False
        if name not in self.known:
            body = template.body
            found = _vanishes(template)
            if isinstance(body, ir.Graph) and template.settings.control.retries is None:
                waited = {one for task in body.tasks for one in task.before}
                last = {task.name: task.template for task in body.tasks if task.name not in waited}
                found = self.all(last, last)
            self.known[name] = found
        return self.known[name]
