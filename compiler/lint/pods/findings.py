"""Findings about pods and claims that the schema cannot express."""

from __future__ import annotations

from flowdsl.compiler.problem import Various
from flowdsl.diagnostic import Finding


class Alternatives(Various):
    """Several fields of which an object can have only one, or none where it needs one."""

    code = "FD589"
    label = "exactly one of them"


class NotForPods(Finding):
    """A value that the API server takes in a workflow, but refuses in the pod or claim made from it."""

    code = "FD594"
    title = "{what} cannot be `{value}`"
    label = "{reason}"
    help = "{way}"
    what: str
    value: str
    reason: str
    way: str


class Incomplete(Finding):
    """A part of a pod or claim that lacks something Kubernetes requires."""

    code = "FD599"
    title = "{what} has no {missing}"
    label = "needs {missing}"
    help = "{way}"
    what: str
    missing: str
    way: str


class EmptyClaim(Finding):
    """The source of a claim that Kubernetes drops silently."""

    code = "FD829"
    severity = "warning"
    title = "the claim begins empty: Kubernetes drops a `dataSource` of the kind `{kind}`"
    label = "dropped silently"
    help = "{way}"
    kind: str
    way: str


class NotOfArgo(Finding):
    """A variable in the path of a mount that Argo's own container also has, without the variable."""

    code = "FD856"
    severity = "warning"
    title = "Argo's container `wait` also has this mount, but no variable `{name}`"
    label = "the pod does not start"
    help = (
        "write `subPath` with a tag, such as `{{{{pod.name}}}}`, or give `wait` the variable by "
        "`podSpecPatch`"
    )
    name: str
