"""Exit hooks of loops in DAGs, which Argo drops when the loop has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import inside
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View


class NeverLeft(Finding):
    """The exit hook of a loop in a DAG, whose template needs more from Argo than the end of a pod."""

    code = "FD783"
    severity = "warning"
    title = "the run never ends after this exit hook: `{task}` has a loop, and `{template}` {what}"
    label = "it runs for each item, and Argo 4.1 visits no item any more once all have ended"
    help = "let the loop call a DAG in which one task has the hook, or let the hook be a single container"
    task: str
    template: str
    what: str


class Lost(Finding):
    """The exit hook of a loop in a DAG, which may not run for some items."""

    code = "FD784"
    severity = "warning"
    title = "this exit hook may not run for each item of `{task}`"
    label = "an item that ends last, while the hook of another runs, gets none in Argo 4.1"
    help = "let the loop call a DAG in which one task has the hook"
    task: str


def left(view: View) -> Iterator[Problem]:
    """The exit hook of a loop in a DAG is a pod, which ends by itself, and the iterations end one after the other.

    Each iteration has the hook, but one runs at a time, and the graph completes the loop when all iterations have
    ended, while the last hook runs: then the iterations are not visited any more.
    Source: executeDAGTask and completableTaskGroupPhase in workflow/controller/dag.go of Argo 4.1.
    """
    for task, callee, path in view.at_ends:
        if task.loop and task.owner.body == "dag":
            what = _more_than_a_pod(view, callee)
            if what:
                yield Problem(path, NeverLeft(task.name, callee.title, what), on_key=True)
            elif callee.is_pod and _together(view, task):
                yield Problem(path, Lost(task.name), on_key=True)


def _together(view: View, task: Call) -> bool:
    """Whether iterations may end while the hook of another one runs."""
    items: list[object] | None = task.data.get("withItems")
    return (items is None or len(items) > 1) and 1 not in (
        task.owner.data.get("parallelism"),
        view.spec.get("parallelism"),
    )


def _more_than_a_pod(view: View, template: Template) -> str:
    if template.body in GRAPH_BODIES:
        return "has tasks of its own" if template.body == "dag" else "has steps"
    if template.body == "suspend":
        return "waits for a time" if inside(template.data, "suspend").get("duration") else ""
    return "is tried again" if template.is_pod and view.tries(template) else ""
