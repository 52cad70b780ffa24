"""What a `podSpecPatch` may change in a pod."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.pods.closed import is_amount
from flowdsl.compiler.lint.pods.pods import values, whole
from flowdsl.compiler.lint.pods.untyped import WORD, unreadable
from flowdsl.compiler.lint.variables.unreplaced import left_open
from flowdsl.compiler.lint.workflow.names import OWN_VOLUMES
from flowdsl.compiler.lint.workflow.passed_values import composed, with_values
from flowdsl.compiler.merge import OF_PODS
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema.findings import OutOfRange, PatternMismatch, UnknownField, WrongType, dotted
from flowdsl.compiler.schema.table import fields, is_type
from flowdsl.compiler.schema.validate import findings_of
from flowdsl.compiler.tree import entries, entries_at, from_json, inside, is_list, is_mapping, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.names import is_argo_container
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG, tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Object, Path


class BadPatch(Finding):
    """A `podSpecPatch` that cannot be applied to a pod."""

    code = "FD568"
    title = "`podSpecPatch` {found}"
    label = "{reason}"
    help = "{way}"
    found: str
    reason: str
    way: str = "write fields of a pod's spec, such as `containers: [{name: main, ...}]`"


class LeftOut(Finding):
    """A field of a `podSpecPatch` that pods do not have: it is dropped silently."""

    code = "FD780"
    severity = "warning"
    title = "`podSpecPatch` has `{path}`, which pods do not have"
    label = "dropped silently"
    help = "{way}"
    path: str
    way: str


NO_MAPPING = "is not a mapping in YAML"
NO_JSON = "is not JSON"
NO_PATCH = "cannot be applied to a pod"


def patches(view: View) -> Iterator[Problem]:
    """A `podSpecPatch` is a mapping in YAML or JSON, whatever its tags stand for, and has the fields of a pod.

    Source: Argo Workflows, ApplyPodSpecPatch.
    """
    of_files = (inside(view.spec, "artifactGC"), (*view.path, "artifactGC"))
    without = {template.path for template in view.templates if not template.is_pod}
    for owner, path in (*view.owners, of_files):
        if path in without:
            continue  # the patch is empty
        patch: str = owner.get("podSpecPatch") or ""
        text = TAG.sub(WORD, patch).strip()
        if _NOTHING.fullmatch(text) or any(map(left_open, tags(patch))):
            continue
        finding, part = BadPatch(NO_MAPPING, "it has no `field: value`"), None
        whole = with_values(view, patch)
        body = None if "{{" in whole else _read(whole)
        written = "{{" not in patch  # else the effect of its values is reported where they are written
        if (lost := no_json(patch)) is not None:
            yield Problem((*path, "podSpecPatch"), BadPatch(NO_JSON, lost[0], _AS_JSON), part=lost[1])
            continue
        if (fault := unreadable(patch)) is not None:
            finding, part = BadPatch(NO_MAPPING, fault[0]), fault[1]
        elif not text.startswith("{") and ":" not in text:
            pass
        elif body is not None and written and (wrong := _fault(body)) is not None:
            finding = wrong
        else:
            yield from _left_out(body, patch, (*path, "podSpecPatch"))
            continue
        yield Problem((*path, "podSpecPatch"), finding, part=part)


_AS_JSON = (
    "what begins with `{` is read as JSON: put keys and texts in double quotes, or write it as YAML, "
    "a field on each line and no braces around them"
)
_QUOTE = regex(r'(?<!\\)(?:\\\\)*"')


def no_json(patch: str) -> tuple[str, Part] | None:
    """Why and where a text that begins as JSON is invalid, whatever its tags stand for; None if it may be valid.

    Source: Argo Workflows, ConvertYAMLToJSON in workflow/util/util.go, which reads text that begins with `{` as JSON.
    """
    if not TAG.sub(WORD, patch).lstrip().startswith("{"):
        return None
    filled, end, inside, loose = "", 0, False, len(patch)
    for tag in TAG.finditer(patch):
        between = patch[end : tag.start()]
        inside ^= len(_QUOTE.findall(between)) % 2 == 1
        filled += between + ("t" * len(tag[0]) if inside else "0".ljust(len(tag[0])))
        end = tag.end()
        if not inside:  # from here on it may become anything
            loose = min(loose, tag.start())
    try:
        from_json(filled + patch[end:])
    except json.JSONDecodeError as error:
        if loose < len(patch) and error.pos >= loose:
            return None
        start = min(error.pos, len(patch) - 1)
        return "no JSON from here on", (start, start + 1)
    except (ValueError, RecursionError):
        return "no JSON", (0, len(patch))
    return None


_NOTHING = regex(rf"(?:#.*\n?|\s)*(?:{WORD}|null|~)?(?:#.*\n?|\s)*")
"""A patch without content: only comments, or one tag, which may be anything."""


def arriving_patches(view: View) -> Iterator[Problem]:
    """Values that a tag inserts into patches of pods keep their structure; reported where they are written."""
    for template in view.all if not view.external else ():
        for owner, path in ((view.spec, view.path), (template.data, template.path)):
            text = string(owner, "podSpecPatch")
            for place, patch in (
                composed(view, template, text, (*path, "podSpecPatch")) if "{{" in text else ()
            ):
                if (fault := no_json(patch)) is not None:
                    if no_json(text) is None:
                        yield Problem(place, BadPatch(NO_JSON, fault[0], _AS_JSON))
                    continue
                body = _read(patch)
                if body is not None and (wrong := _fault(body)) is not None:
                    yield Problem(place, wrong)


def whole_patch(text: str) -> Object:
    """A patch that can be applied; empty if it cannot, or has directives besides its fields."""
    body = None if _DIRECTIVE.search(text) else _read(text)
    return body if is_mapping(body) and _fault(body) is None else {}


_DIRECTIVE = regex(r"\$(?:patch|retainKeys|deleteFromPrimitiveList|setElementOrder)\b")


def _read(patch: str) -> Any:
    """The value of a patch; None if it cannot be read."""
    from flowdsl.compiler.yaml.documents import read

    documents, problems = read(patch, "podSpecPatch")
    return None if problems or len(documents) != 1 else documents[0].body


def applied(patch: str) -> tuple[Object, str]:
    """The changes of a patch without tags, and why Argo cannot apply it, or nothing (ApplyPodSpecPatch)."""
    from flowdsl.compiler.yaml.documents import read

    if no_json(patch) is not None:
        return {}, "it begins with `{`, but is not JSON"
    documents, problems = read(patch, "podSpecPatch")
    if problems:
        return {}, "it is not YAML"
    body: Any = documents[0].body if documents else {}
    if not is_mapping(body):
        return {}, "it has no `field: value`"
    for _, finding in findings_of("PodSpec", body):
        of_amount = isinstance(finding, PatternMismatch) and finding.pattern == "quantity"
        if of_amount or (isinstance(finding, WrongType) and not is_amount(finding)):
            return {}, finding.message
    for reason, _ in _unmerged(body):
        return {}, reason
    return body, ""


def _left_out(body: Any, patch: str, path: Path) -> Iterator[Problem]:
    """Fields of a patch that pods do not have. Go's decoder ignores case."""
    for _, finding in findings_of("PodSpec", body) if is_mapping(body) else ():
        if not isinstance(finding, UnknownField):
            continue
        field = str(finding.steps[-1])
        if not field.startswith("$") and field.lower() not in map(str.lower, fields(finding.owner)):
            at = patch.find(field)
            part = None if at < 0 else (at, at + len(field))
            yield Problem(path, LeftOut(dotted(finding.steps), finding.advice), part=part)


def _fault(body: Any) -> BadPatch | None:
    """What is wrong with a patch, and with the first of its values that is invalid in a pod; None if it is valid.

    An amount may be any number here.
    """
    if not is_mapping(body):
        return BadPatch(NO_MAPPING, "it has no `field: value`")
    for _, finding in findings_of("PodSpec", body):
        if isinstance(finding, (WrongType, PatternMismatch, OutOfRange)) and not is_amount(finding):
            return BadPatch(NO_PATCH, finding.message, finding.advice)
    for reason, way in _unmerged(body):
        return BadPatch(NO_PATCH, reason, way)
    for finding in chain(values("PodSpec", body), _only_here(body)):
        return BadPatch(NO_PATCH, finding.message, finding.advice)
    for reason, way in _clashes(body):
        return BadPatch(NO_PATCH, reason, way)
    if body.get("restartPolicy") == "Always":
        reason = "`restartPolicy: Always` starts containers again that have ended"
        return BadPatch("keeps its pods from ending", reason, "remove it: `retryStrategy` starts another pod")
    return None


def _clashes(body: Object) -> Iterator[tuple[str, str]]:
    """Fields of a patch that Kubernetes refuses, alone or beside each other: why, and the fix."""
    if "containers" in body and body["containers"] is None:
        reason = "`containers:` without a value takes all containers out of the pod"
        yield reason, "add what is to be changed, or remove it"
    if body.get("ephemeralContainers"):
        reason = "`ephemeralContainers` are added to pods that run already, and to no others"
        yield reason, "take `containers` with `image`"
    if body.get("hostPID") and body.get("shareProcessNamespace"):
        reason = (
            "`hostPID` shares the processes of the node, and `shareProcessNamespace` those of the pod alone"
        )
        yield reason, "keep one of them"
    shared = next((each for each in ("hostNetwork", "hostPID", "hostIPC") if body.get(each)), "")
    if shared and body.get("hostUsers") is False:
        reason = (
            f"with `hostUsers: false` a pod has users of its own, and with `{shared}` it is one with the node"
        )
        yield reason, "keep one of them"
    if body.get("schedulingGates") and body.get("nodeName"):
        reason = "`schedulingGates` keep a pod from its node, and `nodeName` names that already"
        yield reason, "keep one of them"
    if body.get("overhead") and not body.get("runtimeClassName"):
        reason = "`overhead` is that of a RuntimeClass, and comes with a `runtimeClassName`"
        yield reason, "add `runtimeClassName`, or remove it"


_ONLY_HERE = {
    "os": "PodOS",
    "readinessGates": "PodReadinessGate",
    "resourceClaims": "PodResourceClaim",
    "schedulingGates": "PodSchedulingGate",
    "topologySpreadConstraints": "TopologySpreadConstraint",
}
"""Fields that pods have by a patch alone, with the types of their entries; claims may be those of a template, too."""


def _only_here(body: Object) -> Iterator[Finding]:
    """What is wrong with the parts of a patch that are merged with nothing, and so are whole."""
    for field, name in _ONLY_HERE.items():
        value = body.get(field)
        if is_mapping(value):
            yield from whole(name, value, (field,))
        for path, each in entries_at(body, (), field) if is_list(value) else ():
            if "$patch" not in each:
                yield from whole(name, each, path)


_OWN = {"containers": ("main", "wait", "supervisor"), "initContainers": ("init",)}
"""The containers that Argo adds to each pod, and the template's own."""


def patched(view: View) -> Iterator[Problem]:
    """Additions of a patch to a pod are complete: a container with an image, a mount with a volume.

    Source: Argo Workflows, ApplyPodSpecPatch: an entry with a name that the pod does not have is a new one.
    """
    if view.external:
        return
    above = patch_of(view.spec)
    told: set[Path] = set()
    for template in view.templates:
        own = patch_of(template.data)
        bodies = [(above, view.path), (own, template.path)]
        if not template.is_pod or not (above or own):
            continue
        volumes = {string(each, "name") for body, _ in bodies for each in entries(body, "volumes")}
        mounts = {string(mount, "name") for _, mount in template.mounts}
        for body, path in bodies:
            finding = _unfinished(template, body, bodies, volumes | mounts | OWN_VOLUMES)
            if finding is not None and path not in told:
                told.add(path)
                yield Problem((*path, "podSpecPatch"), finding)


def patch_of(owner: Object) -> Object:
    """The patch of a template or spec with words in place of its tags; empty if something in it is invalid."""
    patch = string(owner, "podSpecPatch")
    if not patch:
        return {}
    body = _read(TAG.sub(WORD, patch))
    if not is_mapping(body):
        return {}
    wrong = [each for _, each in findings_of("PodSpec", body) if isinstance(each, WrongType)]
    if "{{" in patch:  # a word may stand for any scalar, but not for a mapping or list
        wrong = [
            each
            for each in wrong
            if ":" in each.expression or is_type(each.expression) or isinstance(each.value, (dict, list))
        ]
        return {} if wrong else body
    return {} if wrong or _fault(body) is not None else body


def _unfinished(
    template: Template, body: Object, bodies: list[tuple[Object, Path]], volumes: set[str]
) -> BadPatch | None:
    """What is wrong with an incomplete addition of a patch to the pod of a template, or None."""
    for field, own in _OWN.items():
        there = {string(each, "name") for place, each in template.containers if field in _listed(place)}
        if template.body != "containerSet" or "main" in there:
            there |= set(own)
        else:
            there |= set(own) - {"main"}
        given = {
            string(each, "name") for one, _ in bodies for each in entries(one, field) if each.get("image")
        }
        for each in entries(body, field):
            name = string(each, "name")
            known = name in there or name in given or name.startswith("artifact-plugin-") or WORD in name
            if not known and "$patch" not in each:
                reason = (
                    f"the pod of `{template.title}` has no container `{name}`, and a new one needs an `image`"
                )
                shown = ", ".join(f"`{each}`" for each in sorted(there - {""}) if not is_argo_container(each))
                return BadPatch(NO_PATCH, reason, f"name {shown or 'one of its own'}, or add `image`")
            for mount in entries(each, "volumeMounts"):
                used = string(mount, "name")
                if used and used not in volumes and WORD not in used and "$patch" not in mount:
                    reason = f"the pod of `{template.title}` has no volume `{used}`"
                    return BadPatch(NO_PATCH, reason, "add it under `volumes`")
    return None


def _listed(place: Path) -> tuple[str, ...]:
    """The list of a pod that holds a container of a template."""
    return ("initContainers",) if "initContainers" in place else ("containers",)


def _unmerged(body: Object) -> Iterator[tuple[str, str]]:
    """Entries of a patch that Kubernetes cannot merge: why, and the fix."""
    for path, key in _without_key("PodSpec", body, ()):
        yield f"`{dotted(path)}` has no `{key}`, by which Kubernetes finds what it changes", f"add `{key}`"


def _without_key(expression: str, value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Entries of lists that Kubernetes merges by a key, without that key."""
    if not is_type(expression):
        return
    for field, inner in value.items():
        outer, _, each = fields(expression).get(field, "").partition(":")
        key = OF_PODS.get(field)
        for index, entry in enumerate(inner or () if outer == "list" else ()):
            here = (*path, field, index)
            if key is not None and is_mapping(entry) and not entry.keys() & {key, "$patch"}:
                yield here, key
            yield from _without_key(each, entry, here)
        if outer and is_type(outer) and inner is not None:
            yield from _without_key(outer, inner, (*path, field))
