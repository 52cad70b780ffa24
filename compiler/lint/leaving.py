"""Exit hooks that Argo begins and never ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from flowdsl.compiler.lint.view import GRAPH_BODIES
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.view import Template, View


class NeverLeft(Finding):
    """The exit hook of a loop in a DAG, of a template that needs more of Argo than the end of a pod."""

    code: ClassVar[str] = "FD783"
    severity: ClassVar[Severity] = "warning"
    title: ClassVar[str] = "the run never ends behind this exit hook: `{task}` has a loop, and `{template}` {what}"
    label: ClassVar[str] = "it runs for each round, and Argo 4.1 comes to no round any more when all have ended"
    help: ClassVar[str] = "let the loop call a DAG in which one task has the hook, or let the hook be a single container"
    task: str
    template: str
    what: str


def never_left(view: View) -> Iterator[Problem]:
    """The exit hook of a loop in a DAG is a pod, which ends by itself.

    Each round has the hook, and the graph takes the loop for ended when all rounds have, while the hook of the last runs.
    Source: executeDAGTask and completableTaskGroupPhase in workflow/controller/dag.go of Argo 4.1.
    """
    for call in view.calls:
        if call.parent is not None:
            task, path, callee = call.parent, call.path, call.callee
            if call.place[-1] != "exit":
                continue
        elif name := call.data.get("onExit"):
            task, path, callee = call, (*call.path, "onExit"), view.named.get(name)
        else:
            continue
        if task.loop and task.owner.body == "dag" and callee is not None:
            what = _more_than_a_pod(view, callee)
            if what:
                yield Problem(path, NeverLeft(task.name, callee.title, what), on_key=True)


def _more_than_a_pod(view: View, template: Template) -> str:
    if template.body in GRAPH_BODIES:
        return "has tasks of its own" if template.body == "dag" else "has steps"
    if template.body == "suspend":
        suspend: object = template.data["suspend"]
        return "waits for a time" if isinstance(suspend, dict) and suspend.get("duration") else ""
    tried = template.is_pod and (template.data.get("retryStrategy") is not None or view.retried)
    return "is tried again" if tried else ""
