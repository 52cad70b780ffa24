"""Templates with `daemon: true` that Argo does not treat as daemons: it waits for their pods to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View


class LostDaemon(Finding):
    """A daemon that Argo waits for, because it does not find `daemon` where the template has it."""

    code = "FD851"
    title = "Argo does not treat {what} as a daemon, and waits for it to end"
    label = "{reason}"
    help = "{way}"
    what: str
    reason: str
    way: str


def waited_for(view: View) -> Iterator[Problem]:
    """Daemons are declared in named templates, where Argo looks when their pods run.

    For inline templates, which have no name, it finds that of a WorkflowTemplate, and any if it has several.
    Source: Argo Workflows, assessNodeStatus and GetTemplateByName.
    """
    inner = [template for template in view.all if template.around is not None]
    for template in inner if view.runs or len(inner) > 1 else ():
        if template.is_pod and template.data.get("daemon"):
            way = "give it a name among the `templates`, and call it"
            reason = "Argo does not find this template when its pod runs"
            yield Problem((*template.path, "daemon"), LostDaemon("this", reason, way))
    if view.defaults.get("daemon"):
        pods = [template for template in view.all if template.is_pod]
        without = next((template for template in pods if template.data.get("daemon") is None), None)
        if without is not None or not pods:
            what = "a template" if without is None else f"`{without.title}`"
            way = "write `daemon: true` in each template that is one"
            reason = "looked for in the template itself"
            yield Problem((*view.path, "templateDefaults", "daemon"), LostDaemon(what, reason, way))
