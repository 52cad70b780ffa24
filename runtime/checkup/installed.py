"""Checks the API server, the user's identity, and the installation of Argo."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.argo_versions import VERSIONS
from flowdsl.runtime.checkup.visit import Check, Unread
from flowdsl.runtime.cluster.kinds import (
    CLUSTER_TEMPLATE,
    CRON,
    DEFINITION,
    DEPLOYMENT,
    NAMESPACE,
    TEMPLATE,
    WORKFLOW,
)
from flowdsl.runtime.cluster.seam import EVERYWHERE, Kind
from flowdsl.runtime.cluster.trouble import FORBIDDEN, Refusal
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.references import SERVED, served_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.runtime.checkup.visit import Visit

Json = dict[str, Any]

SELF = Kind("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False)
_OWN = (
    WORKFLOW.name,
    TEMPLATE.name,
    CRON.name,
    CLUSTER_TEMPLATE.name,
    "WorkflowTaskResult",
)
_USUAL = "argo"
# The version with which flowdsl is tested: a newer one may read workflows differently.
_INSTALL = (
    "kubectl create namespace argo && kubectl apply --server-side -n argo -f "
    "https://github.com/argoproj/argo-workflows/releases/download/v4.1.2/install.yaml"
)


def server(visit: Visit) -> Iterator[Check]:
    """Whether the server responds, and its version."""
    said = f"{visit.cluster.called}, namespace `{visit.namespace}`"
    try:
        yield Check("server", "ok", f"{said}, {visit.cluster.version()}")
    except Refusal as refusal:
        if refusal.code != FORBIDDEN:
            raise
        yield Check("server", "unchecked", f"{said}; which version it has may not be read")


def credentials(visit: Visit) -> Iterator[Check]:
    """The user's identity, as the server sees it."""
    try:
        found = visit.review(SELF, {})
    except Unread:
        yield Check("credentials", "ok", "the server takes them, and does not say whose they are")
        return
    visit.user = str(part(found, "userInfo").get("username") or "")
    yield Check("credentials", "ok", f"the server knows you as `{visit.user}`")


def namespace(visit: Visit) -> Iterator[Check]:
    """Whether the namespace exists."""
    try:
        found = visit.get(NAMESPACE, visit.namespace)
    except Unread:
        return  # users with rights in it may lack that to see it
    if found is None:
        name = shlex.quote(visit.namespace)
        text = f"there is no namespace `{visit.namespace}`"
        yield Check(
            "namespace", "problem", text, f"kubectl create namespace {name}, or name another one with -n"
        )


def definitions(visit: Visit) -> Iterator[Check]:
    """The CRDs of Argo, and whether the server knows their fields."""
    try:
        kinds = served_by(visit.get(SERVED._replace(group="argoproj.io", version="v1alpha1"), "") or {})
    except Unread as error:
        yield Check("definitions", "unchecked", f"which kinds the server knows cannot be told: {error}")
        return
    lacking = [kind for kind in _OWN if kind not in kinds]
    if lacking:
        what = "Argo Workflows is not installed" if WORKFLOW.name in lacking else f"there is no {lacking[0]}"
        yield Check("definitions", "problem", f"{what}: the server knows no {', '.join(lacking)}", _INSTALL)
        return
    try:
        found = visit.get(DEFINITION, WORKFLOW.resource)
    except Unread:
        yield Check("definitions", "ok", "the server knows the kinds of Argo; how well may not be read")
        return
    spec = _fields(found or {})
    if spec:
        yield Check(
            "definitions", "ok", f"full: the server checks all fields of a Workflow ({len(spec)} in its spec)"
        )
    else:
        text = "minimal: the server takes any field, so a mistake shows when a run fails; flowdsl checks them itself"
        yield Check("definitions", "ok", text)


def _fields(definition: Json) -> Json:
    """The fields of the spec in a CRD; none if it accepts any."""
    for version in several(part(definition, "spec"), "versions"):
        if version.get("storage"):
            schema = part(part(version, "schema"), "openAPIV3Schema")
            return part(part(part(schema, "properties"), "spec"), "properties")
    return {}


def controller(visit: Visit) -> Iterator[Check]:
    """Argo's controller: whether it exists, works, and has the version that is compiled for."""
    found = visit.list(DEPLOYMENT, EVERYWHERE)
    if found is None:
        parts = [visit.list(DEPLOYMENT, namespace) for namespace in (_USUAL, visit.namespace)]
        found = [one for several_ in parts for one in several_ or ()]
        if not any(_image(one) for one in found):
            may = f"kubectl auth can-i list {DEPLOYMENT.resource} -n {_USUAL}"
            yield Check("controller", "unchecked", "deployments may not be read", may)
            return
    running = [one for one in found if _image(one)]
    if not running:
        yield Check(
            "controller",
            "problem",
            "no controller of Argo runs in this cluster: no run would begin",
            _INSTALL,
        )
    for one in running:
        metadata = part(one, "metadata")
        name, namespace = str(metadata.get("name")), str(metadata.get("namespace"))
        visit.controllers.append(namespace)
        image = _image(one)
        what = f"`{name}` in namespace `{namespace}`, {image}"
        if not part(one, "status").get("availableReplicas"):
            see = f"kubectl describe deployment {name} -n {namespace}"
            yield Check("controller", "problem", f"{what}, is not available: no run continues", see)
            continue
        yield _versioned(visit, image, what)


def _versioned(visit: Visit, image: str, what: str) -> Check:
    match = re.search(r":v?(\d+\.\d+)", image)
    meant = visit.profile.argo
    if match is None:
        text = f"{what}: its version is not in the name of the image; it is compiled for {meant}"
        return Check(
            "controller", "note", text, f'argo = "{meant}" in {visit.settings} says what is compiled for'
        )
    if match[1] == meant:
        return Check("controller", "ok", what)
    has = _number(match[1])
    text = f"{what}: it is Argo {match[1]}, and pipelines are compiled for {meant}"
    if match[1] in VERSIONS:
        remedy = f'write argo = "{match[1]}" in {visit.settings}'
        return Check("controller", "problem" if has < _number(meant) else "note", text, remedy)
    known = f"flowdsl knows {VERSIONS[0]} to {VERSIONS[-1]}"
    if has > _number(meant):
        return Check("controller", "note", f"{text}; {known}")
    return Check("controller", "problem", f"{text}; {known}", "install a newer Argo")


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _image(deployment: Json) -> str:
    """The image of Argo's controller, however it was installed and named; empty if it is another image."""
    template = part(part(part(deployment, "spec"), "template"), "spec")
    for one in several(template, "containers"):
        image = str(one.get("image") or "")
        if image.rpartition("/")[2].partition("@")[0].partition(":")[0] == "workflow-controller":
            return image
    return ""
