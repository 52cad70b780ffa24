"""Manifests exported from a cluster: what only a workflow that has begun has, such as labels of Argo's own.

Source: Argo Workflows, workflow/controller/controller.go and workflow/common/common.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import inside, string, value_at
from flowdsl.diagnostic import Finding
from flowdsl.grammar.labels import COMPLETED, NODE_ID, NODE_NAME, RUN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View


class OverBefore(Finding):
    """A run that has ended before it begins: nothing of it is executed."""

    code = "FD814"
    title = "{found}, so the run has ended before it begins"
    label = "nothing is executed"
    help = "remove it"
    found: str


class FromCluster(Finding):
    """A field that only stored objects have: the API server refuses to create one with it."""

    code = "FD818"
    title = "`metadata.{field}` says that the object was read from a cluster"
    label = "refused when the object is created"
    help = "remove it, along with `uid`, `creationTimestamp`, `managedFields` and `status`"
    field: str


class OwnLabel(Finding):
    """A label or annotation by which Argo finds its pods: with another value, the run waits forever."""

    code = "FD815"
    title = "Argo finds its pods by the {what} `{key}`, and sets it itself"
    label = "Argo does not find the pod, and waits for it"
    help = "remove it, or use a name with your own domain"
    what: str
    key: str


_ENDED = ("Succeeded", "Failed", "Error")
_OWN = {
    "labels": ("label", (RUN, COMPLETED)),
    "annotations": ("annotation", (NODE_ID, NODE_NAME)),
}


def over(view: View) -> Iterator[Problem]:
    """A workflow is not marked as ended, and was not exported from a cluster."""
    if view.kind != "Workflow":
        return
    if string(view.metadata, "resourceVersion") not in ("", "0"):
        yield Problem(("metadata", "resourceVersion"), FromCluster("resourceVersion"), on_key=True)
    elif string(view.metadata, "labels", COMPLETED) == "true":
        found = f"the label `{COMPLETED}` says that the workflow has ended"
        yield Problem(("metadata", "labels", COMPLETED), OverBefore(found), on_key=True)
    elif (phase := value_at(view.document, ("status", "phase"))) in _ENDED:
        yield Problem(("status", "phase"), OverBefore(f"the status says that the workflow is `{phase}`"))
    elif (shutdown := string(view.spec, "shutdown")) in ("Stop", "Terminate"):
        yield Problem((*view.path, "shutdown"), OverBefore(f"`shutdown: {shutdown}` ends the workflow"))


def own_labels(view: View) -> Iterator[Problem]:
    """Pods keep the labels and annotations by which Argo finds them."""
    owners = [(inside(view.spec, "podMetadata"), (*view.path, "podMetadata"))]
    owners += [(inside(each.data, "metadata"), (*each.path, "metadata")) for each in view.with_defaults]
    for metadata, path in owners:
        for field, (what, names) in _OWN.items():
            for key in inside(metadata, field):
                value = string(metadata, field, key)
                if key in names and "{{" not in value and (key, value) != (COMPLETED, "false"):
                    yield Problem((*path, field, key), OwnLabel(what, key), on_key=True)
