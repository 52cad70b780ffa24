"""Templates with their `podSpecPatch` applied, as the API server sees the pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import CONTAINER_BODIES, PROGRAM_BODIES
from flowdsl.compiler.lint.combined import Guest, beside
from flowdsl.compiler.lint.pods.patches import NO_PATCH, BadPatch, whole_patch
from flowdsl.compiler.lint.workflow.names import OWN_VOLUMES
from flowdsl.compiler.lint.workflow.passed_values import composed
from flowdsl.compiler.merge import OF_PODS, merged
from flowdsl.compiler.tree import entries, names_of, string
from flowdsl.grammar.names import is_argo_container

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.combined import Whole
    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path
    from flowdsl.diagnostic import Finding

_SHARED = (
    "affinity",
    "automountServiceAccountToken",
    "hostAliases",
    "initContainers",
    "nodeSelector",
    "priorityClassName",
    "securityContext",
    "serviceAccountName",
    "tolerations",
)
"""Fields that templates have under the same names as pods."""


def patched(view: View) -> Whole | None:
    """A document with templates as their patches change them, added to its own; None without patches.

    Source: Argo Workflows, ApplyPodSpecPatch: first the patch of the spec, then that of the template.
    """
    pods = [each for each in view.listed if each.body in PROGRAM_BODIES]
    found = [(template, data, via) for template in pods for data, via in _results(view, template)]
    return beside(view, ((data, Guest(view, template, via, _finding)) for template, data, via in found))


def _finding(finding: Finding) -> Finding:
    """The finding about a pod that is invalid because of its patch."""
    return BadPatch(NO_PATCH, finding.message, finding.advice)


def _results(view: View, template: Template) -> Iterator[tuple[Object, Path]]:
    """The variants of a patched template, each with the place that decides it: one per value of the tags."""
    above, own = (
        _bodies(view, template, string(owner, "podSpecPatch"), (*path, "podSpecPatch"))
        for owner, path in ((view.spec, view.path), (template.data, template.path))
    )
    for index in range(max(len(above), len(own))):
        (below, via), (over, at) = (
            each[min(index, len(each) - 1)] if each else _NONE for each in (above, own)
        )
        if below or over:
            yield _patched(view, _patched(view, template.data, below), over), at or via


_NONE: tuple[Object, Path] = ({}, ())


def _bodies(view: View, template: Template, text: str, path: Path) -> list[tuple[Object, Path]]:
    """The patches that a text becomes with the known values of its tags, each with the place of the value."""
    texts = {each: place for place, each in composed(view, template, text, path)} if text else {}
    return [(whole_patch(each), place) for each, place in (texts or {text: path}).items() if each]


def _patched(view: View, data: Object, patch: Object) -> Object:
    """A template with a patch of its pod applied."""
    if not patch:
        return data
    body = next((field for field in CONTAINER_BODIES if data.get(field) is not None), "")
    main: Object = {**data[body], "name": "main"} if body else {}
    group = [main] if body else entries(data, "containerSet", "containers")
    beside = entries(data, "sidecars")
    shared = {field: value for field in _SHARED if (value := data.get(field) or view.spec.get(field))}
    listed: Object = {**shared, "containers": [*group, *beside], "volumes": entries(data, "volumes")}
    after: Object = merged(listed, patch, OF_PODS)
    result = {**data, **{field: after.get(field) for field in _SHARED if field in patch}}
    if "initContainers" in patch:
        result["initContainers"] = _written(after.get("initContainers"))
    names = {string(each, "name") for each in group}
    containers = _written(after.get("containers")) or group
    if body:
        own = next((each for each in containers if string(each, "name") == "main"), main)
        result[body] = {key: value for key, value in own.items() if key != "name"}
    else:
        inside = [each for each in containers if string(each, "name") in names]
        result["containerSet"] = {**data["containerSet"], "containers": inside}
    if others := [each for each in containers if string(each, "name") not in names]:
        result["sidecars"] = others
    around = names_of(view.spec, "volumes")
    if volumes := [each for each in after.get("volumes") or () if string(each, "name") not in around]:
        result["volumes"] = volumes
    return result


def _written(containers: list[Object] | None) -> list[Object]:
    """The containers of a pod that are not Argo's, without mounts of Argo's volumes."""
    found: list[Object] = []
    for each in containers or ():
        if not is_argo_container(string(each, "name")):
            mounts = [one for one in entries(each, "volumeMounts") if one.get("name") not in OWN_VOLUMES]
            found.append({**each, "volumeMounts": mounts} if "volumeMounts" in each else each)
    return found
