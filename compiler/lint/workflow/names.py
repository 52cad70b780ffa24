"""Names of objects, containers, variables and volumes; duplicate names in lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.template import by_name
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.labels import POD_NAMES
from flowdsl.grammar.names import (
    dns_name,
    is_argo_container,
    is_dns_label,
    is_dns_subdomain,
    is_env_name,
    is_parameter_name,
    is_relaxed_env_name,
)
from flowdsl.grammar.template import TAG, may_be

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path

LONGEST_NAMES = {"CronWorkflow": 52}
"""The greatest length of an object's name; 63 for all other kinds.

A workflow's name becomes a label value; the name of one that a CronWorkflow starts is eleven characters
longer. Source: Argo Workflows, maxCharsInObjectName and maxCharsInCronWorkflowName.
"""


class NoObjectName(Finding):
    """An object without a name: the API server refuses it."""

    code = "FD501"
    title = "the {kind} has no name"
    label = "needs `name` or `generateName`"
    help = "add `name`, or `generateName` for a prefix to which the cluster adds five characters"
    kind: str


class BadObjectName(Finding):
    """An object's name that Kubernetes or Argo refuses."""

    code = "FD502"
    title = "`{name}` cannot be the name of a {kind}"
    label = "{reason}"
    help = (
        "use at most {longest} lower-case letters, digits, `-` and `.`, with a letter or digit at both ends"
    )
    name: str
    kind: str
    longest: int
    reason: str


class NoPodName(Finding):
    """A template that runs in a pod, and whose name cannot be part of a pod's name."""

    code = "FD844"
    title = "template `{name}` cannot run in a pod: its name has capital letters"
    label = "part of the name of its pods"
    help = "write `{lower}` here, and where it is called"
    name: str
    lower: str


class DuplicateName(Finding):
    """Two entries of one list with one name."""

    code = "FD503"
    title = "`{name}` is already the name of another {what}"
    label = "the same name as {first}"
    help = "give each {what} a name of its own"
    name: str
    what: str
    first: str


class HiddenClaim(Finding):
    """A claim made for a run that no pod mounts, because another volume has its name."""

    code = "FD847"
    severity = "warning"
    title = "the claim `{name}` is never mounted: another {what} has this name"
    label = "the same name as {what} {first}"
    help = "give it its own name, or remove it"
    name: str
    what: str
    first: int


class NoName(Finding):
    """A part of a workflow that needs a name, without one."""

    code = "FD539"
    title = "{what} has no name"
    label = "needs `name`"
    help = "add `name`"
    what: str


class BadArtifactName(Finding):
    """An artifact or global name that the API server takes and Argo refuses."""

    code = "FD504"
    title = "`{name}` cannot be the name of {what}"
    label = "only letters, digits, `-` and `_`"
    help = "use letters, digits, `-` and `_`"
    name: str
    what: str


class BadContainerName(Finding):
    """The name of a container that the pod cannot have."""

    code = "FD506"
    title = "`{name}` cannot be the name of a container"
    label = "{reason}"
    help = "use another name of at most 63 lower-case letters, digits and `-`, such as `{instead}`"
    name: str
    reason: str
    instead: str


class BadVariableName(Finding):
    """A name that no environment variable can have."""

    code = "FD507"
    title = "`{name}` cannot be the name of an environment variable"
    label = "{reason}"
    help = "{way}"
    name: str
    reason: str = "not a variable's name"
    way: str = "use letters, digits and `_`"


class OwnVariable(Finding):
    """A variable that Argo sets in each container itself, so that this value never arrives."""

    code = "FD827"
    severity = "warning"
    title = "Argo sets `{name}` itself, so this value does not arrive"
    label = "never there"
    help = "use another name"
    name: str


class UnusualVariableName(Finding):
    """The name of an environment variable that clusters before Kubernetes 1.34 refuse."""

    code = "FD508"
    severity = "warning"
    title = "`{name}` names an environment variable only from Kubernetes 1.34 on"
    label = "refused by older clusters"
    help = "use letters, digits and `_`, and begin with a letter or `_`"
    name: str


class BadVolumeName(Finding):
    """The name of a volume that no pod can have."""

    code = "FD509"
    title = "`{name}` cannot be the name of a volume"
    label = "{reason}"
    help = "name it `{instead}`, here and in `volumeMounts`"
    name: str
    instead: str
    reason: str = "at most 63 lower-case letters, digits and `-`"


def object_name(view: View) -> Iterator[Problem]:
    """The object has a name that is valid for its kind."""
    name = string(view.metadata, "name")
    prefix = string(view.metadata, "generateName")
    longest = LONGEST_NAMES.get(view.kind, 63)
    if not name and not prefix:
        yield Problem(("metadata",), NoObjectName(view.kind))
        return
    for field, given, whole in (("name", name, name), ("generateName", prefix, prefix[:58] + "xxxxx")):
        reason = ""
        if given and len(whole) > longest and not (name and prefix is given):
            reason = f"{len(whole)} characters, {longest} are allowed"
        elif given and not is_dns_subdomain(whole):
            reason = "not the name of a Kubernetes object"
        if reason:
            yield Problem(("metadata", field), BadObjectName(given, view.kind, longest, reason))
    namespace = string(view.metadata, "namespace")
    if namespace and not is_dns_label(namespace):
        reason = "not the name of a Kubernetes object"
        yield Problem(("metadata", "namespace"), BadObjectName(namespace, "namespace", 63, reason))


def given_names(view: View) -> Iterator[Problem]:
    """Templates, steps, and the reference to a base have names.

    The schema requires those of tasks. Source: Argo Workflows, validate.go.
    """
    for template in view.templates:
        if not template.name and template.around is None:
            yield Problem(template.path, NoName("the template"))
    for call in view.calls:
        if not call.name and call.parent is None and call.owner.body == "steps":
            yield Problem(call.path, NoName("the step"))
    if (reference := view.spec.get("workflowTemplateRef")) is not None and not reference.get("name"):
        yield Problem((*view.path, "workflowTemplateRef"), NoName("the reference"))


def pod_names(view: View) -> Iterator[Problem]:
    """The names of templates can be part of the names of their pods.

    A pod that is the whole run has the name of the run. Source: Argo Workflows, GeneratePodName in
    workflow/util/pod_name.go.
    """
    if inside(view.metadata, "annotations").get(POD_NAMES):
        return
    entry = view.setting("entrypoint")
    last = {id(hook) for _, hook, _ in view.at_ends}
    for template in view.listed:
        name = template.name
        if name == name.lower() or not template.is_pod:
            continue
        called = view.callers.get(id(template)) or id(template) in last or name == view.setting("onExit")
        if (
            called
            or (name == entry and template.data.get("retryStrategy"))
            or not (view.runs or name == entry)
        ):
            yield Problem((*template.path, "name"), NoPodName(name, name.lower()))


def unique_names(view: View) -> Iterator[Problem]:
    """Names are unique within their list: templates, calls, parameters, artifacts, containers, volumes."""
    spec, path = view.spec, view.path
    yield from _repeated(spec.get("templates"), (*path, "templates"), "template")
    yield from _repeated(spec.get("volumes"), (*path, "volumes"), "volume")
    yield from _repeated_claims(spec, path)
    yield from _repeated_in(inside(spec, "arguments"), (*path, "arguments"))
    for template in view.templates:
        data, path = template.data, template.path
        for field in ("inputs", "outputs"):
            yield from _repeated_in(inside(data, field), (*path, field))
        if "volumes" in data:
            yield from _repeated(data["volumes"], (*path, "volumes"), "volume")
        for place, container in template.containers:
            if "ports" in container:
                yield from _repeated(container["ports"], (*template.path, *place, "ports"), "port")
        yield from _one_pod(template)
        what = "task" if template.body == "dag" else "step"
        if len({call.name for call in template.calls}) < len(template.calls):
            first: dict[str, int] = {}
            for index, call in enumerate(template.calls):
                if call.name and first.setdefault(call.name, index) != index:
                    yield Problem(
                        (*call.path, "name"), DuplicateName(call.name, what, f"entry {first[call.name]}")
                    )
    for call in view.outlines:
        arguments: Object = call.data.get("arguments") or {}
        given: list[Object] = arguments.get("parameters") or []
        if len(given) > 1 and len({each.get("name") for each in given}) < len(given):
            yield from _repeated(given, (*call.path, "arguments", "parameters"), "parameter")
    for call in view.handing:
        yield from _repeated(
            call.data["arguments"]["artifacts"], (*call.path, "arguments", "artifacts"), "artifact"
        )


_LISTS = (("parameters", "parameter"), ("artifacts", "artifact"))


def _repeated_in(lists: Object, path: Path) -> Iterator[Problem]:
    """The findings about repeated names of parameters and artifacts in inputs, outputs or arguments."""
    for field, what in _LISTS:
        if field in lists:
            yield from _repeated(lists[field], (*path, field), what)


def _repeated_claims(spec: Object, path: Path) -> Iterator[Problem]:
    """The findings about claims of a run with the name of an earlier one, or of a volume, which pods mount.

    Source: Argo Workflows, createPVCs and addVolumeReferences.
    """
    first = {string(each, "name"): ("volume", index) for index, each in enumerate(entries(spec, "volumes"))}
    for index, claim in enumerate(entries(spec, "volumeClaimTemplates")):
        name = string(claim, "metadata", "name")
        if name and first.setdefault(name, ("claim", index)) != ("claim", index):
            place = (*path, "volumeClaimTemplates", index, "metadata", "name")
            yield Problem(place, HiddenClaim(name, *first[name]))


def _one_pod(template: Template) -> Iterator[Problem]:
    """The findings about containers of a pod that share a name; the one of the template itself is `main`."""
    first: dict[str, str] = {}
    for place, container in template.containers:
        name = string(container, "name") if len(place) > 1 else "main"
        shown = f"entry {place[-1]} of `{place[-2]}`" if len(place) > 1 else "the container of the template"
        if name and first.setdefault(name, shown) != shown:
            yield Problem((*template.path, *place, "name"), DuplicateName(name, "container", first[name]))


def _repeated(listed: list[Object] | None, path: Path, what: str) -> Iterator[Problem]:
    """The findings about entries of a list with the name of an earlier one."""
    if not listed or len(by_name(listed)) == len(listed):
        return
    first: dict[str, int] = {}
    for index, entry in enumerate(listed):
        name: str = entry.get("name") or ""
        if name and first.setdefault(name, index) != index:
            yield Problem((*path, index, "name"), DuplicateName(name, what, f"entry {first[name]}"))


def artifact_names(view: View) -> Iterator[Problem]:
    """Artifacts and global names have valid parameter names; Argo requires it, the API server does not."""
    yield from _artifact_names(view.spec, view.path, "arguments", "artifacts")
    for call in view.handing:
        yield from _artifact_names(call.data, call.path, "arguments", "artifacts")
    for template in view.templates:
        for fields in (("inputs", "artifacts"), ("outputs", "artifacts"), ("outputs", "parameters")):
            yield from _artifact_names(template.data, template.path, *fields)


def _artifact_names(owner: Object, path: Path, *fields: str) -> Iterator[Problem]:
    for place, entry in entries_at(owner, path, *fields):
        for key, what in (("name", "an artifact"), ("globalName", "a global output")):
            if key == "name" and fields[1] == "parameters":
                continue  # which the API server requires
            name: str = entry.get(key) or ""
            filled = "{{" in name and (key == "globalName" or (fields[0] == "outputs" and not _left(name)))
            if name and not filled and not is_parameter_name(name):
                yield Problem((*place, key), BadArtifactName(name, what))


def _left(name: str) -> bool:
    """Whether a tag in a name has no value when Argo checks it: only inputs and the workflow's have."""
    return any(not tag[1].strip().startswith(("=", "inputs.", "workflow.")) for tag in TAG.finditer(name))


def containers(view: View) -> Iterator[Problem]:
    """Containers and their variables have names that a pod accepts, and that Argo does not reserve."""
    for template, place, container in view.containers:
        name = string(container, "name")
        if len(place) > 1 and name and (reason := _container_fault(name)):
            instead = f"my-{name}"[:63] if is_dns_label(name) else dns_name(name) or "container"
            path = (*template.path, *place, "name")
            yield Problem(path, BadContainerName(name, reason, instead))
        for at, variable in entries_at(container, (*template.path, *place), "env"):
            name = string(variable, "name")
            if name and (finding := _variable_fault(name, variable)) is not None:
                yield Problem((*at, "name"), finding)


_OWN_VARIABLES = frozenset(
    (
        "ARGO_CONTAINER_NAME",
        "ARGO_DEADLINE",
        "ARGO_INCLUDE_SCRIPT_OUTPUT",
        "ARGO_NODE_ID",
        "ARGO_WORKFLOW_NAME",
    )
)
"""The variables that Argo adds after those of a container. Source: Argo Workflows, workflowpod.go."""


def _variable_fault(name: str, variable: Object) -> Finding | None:
    """What is wrong with the name of an environment variable, or None."""
    if name == "ARGO_TEMPLATE":
        reason = "Argo looks for a template in it, and the run ends in Error"
        return BadVariableName(name, reason, "use another name")
    if name in _OWN_VARIABLES:
        # A variable for the name of the run has the same value.
        same = name == "ARGO_WORKFLOW_NAME" and "{{" in str(variable.get("value"))
        return None if same else OwnVariable(name)
    if may_be(is_env_name, name):
        return None
    return UnusualVariableName(name) if may_be(is_relaxed_env_name, name) else BadVariableName(name)


def _container_fault(name: str) -> str:
    """Why a container name is invalid; empty if it is valid."""
    if is_argo_container(name):
        return "Argo uses this name for a container of its own"
    return "" if may_be(is_dns_label, name) else "at most 63 lower-case letters, digits and `-`"


OWN_VOLUMES = frozenset(
    ("argo-env-config", "argo-staging", "exec-sa-token", "input-artifacts", "tmp-dir-argo", "var-run-argo")
)
"""The volumes that Argo adds to pods. Source: Argo Workflows, workflow/controller/workflowpod.go."""


def volumes(view: View) -> Iterator[Problem]:
    """Volumes have names that a pod accepts, and that are not taken in their pods."""
    listed = [
        ((*at, "name"), string(volume, "name"))
        for owner, path in view.owners
        for at, volume in entries_at(owner, path, "volumes")
    ]
    listed += [
        ((*at, "metadata", "name"), string(claim, "metadata", "name"))
        for at, claim in entries_at(view.spec, view.path, "volumeClaimTemplates")
    ]
    for path, name in listed:
        if name in OWN_VOLUMES and _is_taken(view, name):
            reason = "Argo uses this name for a volume of its own"
            yield Problem(path, BadVolumeName(name, f"my-{name}", reason))
        elif name and not may_be(is_dns_label, name):
            yield Problem(path, BadVolumeName(name, dns_name(name) or "volume"))


def _is_taken(view: View, name: str) -> bool:
    """Whether a pod that mounts a volume has one of Argo's with the same name."""
    for template in view.templates:
        mounts = {string(mount, "name") for _, mount in template.mounts}
        has = {"input-artifacts": bool(template.artifacts), "argo-staging": template.body == "script"}
        if name in mounts and has.get(name, name.endswith("-argo")):
            return True
    return False
