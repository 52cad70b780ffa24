"""What a `podSpecPatch` changes in a pod can be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.objects import unreadable
from flowdsl.compiler.lint.tree import is_mapping
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema.findings import OutOfRange, PatternMismatch, UnknownField, WrongType, dotted
from flowdsl.compiler.schema.table import fields, is_type, rules
from flowdsl.compiler.schema.validate import At, is_number, reading
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.tree import Object, Path
    from flowdsl.compiler.lint.view import View


class BadPatch(Finding):
    """A `podSpecPatch` that no pod can be patched with."""

    code = "FD568"
    title = "`podSpecPatch` {found}"
    label = "{reason}"
    help = "write fields of a pod's spec, such as `containers: [{{name: main, ...}}]`"
    found: str
    reason: str


class LeftOut(Finding):
    """A field of a `podSpecPatch` that pods do not have: it is left out of the pod without a word."""

    code = "FD780"
    severity = "warning"
    title = "`podSpecPatch` has `{path}`, which pods do not have"
    label = "left out without a word"
    help = "{way}"
    path: str
    way: str


NO_MAPPING = "is not a mapping in YAML"
NO_PATCH = "cannot be applied to a pod"

MERGED_BY = frozenset(("name", "containerPort", "devicePath", "ip", "mountPath", "topologyKey"))
"""The fields by which entries of a patch find those of the pod. Source: Kubernetes, `patchMergeKey` of types.go."""


def patches(view: View) -> Iterator[Problem]:
    """A `podSpecPatch` is a mapping in YAML or JSON, whatever its tags stand for, and has the fields of a pod.

    Source: Argo Workflows, ApplyPodSpecPatch.
    """
    for owner, path in view.owners:
        patch: str = owner.get("podSpecPatch") or ""
        text = TAG.sub("tag", patch).strip()
        if not text or text in ("tag", "null", "~"):
            continue
        found, part = NO_MAPPING, None
        body = None if "{{" in patch else _read(patch)
        if (fault := unreadable(patch)) is not None:
            reason, part = fault
        elif not text.startswith("{") and ":" not in text:
            reason = "it has no `field: value`"
        elif body is not None and (wrong := _fault(body)) is not None:
            found, reason = wrong
        else:
            yield from _left_out(body, patch, (*path, "podSpecPatch"))
            continue
        yield Problem((*path, "podSpecPatch"), BadPatch(found, reason), part=part)


def _read(patch: str) -> Any:
    """The value of a patch; None where it cannot be read."""
    from flowdsl.compiler.yaml.documents import read

    documents, problems = read(patch, "podSpecPatch")
    return None if problems or len(documents) != 1 else documents[0].body


def _findings(body: Object) -> Iterator[Finding]:
    """What the schema finds in a patch."""
    for fault in reading(False).object("PodSpec")(body) or ():
        yield fault.describe(At("PodSpec", fault.path, body))


def _left_out(body: Any, patch: str, path: Path) -> Iterator[Problem]:
    """The fields of a patch that pods do not have. The reader of Go takes capitals for small letters."""
    for finding in _findings(body) if is_mapping(body) else ():
        if not isinstance(finding, UnknownField):
            continue
        field = str(finding.steps[-1])
        if not field.startswith("$") and field.lower() not in map(str.lower, fields(finding.owner)):
            at = patch.find(field)
            part = None if at < 0 else (at, at + len(field))
            yield Problem(path, LeftOut(dotted(finding.steps), finding.advice), part=part)


def _fault(body: Any) -> tuple[str, str] | None:
    """What is wrong with a patch, and with the first of its values that a pod cannot have; None when all is well.

    An amount may be any number here.
    """
    if not is_mapping(body):
        return NO_MAPPING, "it has no `field: value`"
    for finding in _findings(body):
        if isinstance(finding, WrongType) and finding.expression == "quantity" and is_number(finding.value):
            continue
        if isinstance(finding, (WrongType, PatternMismatch, OutOfRange)):
            return NO_PATCH, finding.message
    for path, field in _unmerged("PodSpec", body, ()):
        return NO_PATCH, f"`{dotted(path)}` has no `{field}`, by which Kubernetes finds what it changes"
    return None


def _unmerged(expression: str, value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The entries of lists that Kubernetes merges into those of a pod, without the field that tells which."""
    if not is_type(expression):
        return
    for field, inner in value.items():
        outer, _, each = fields(expression).get(field, "").partition(":")
        keys = MERGED_BY & rules(expression).get(field, {}).get("keys", {}).keys()
        for index, entry in enumerate(inner or () if outer == "list" else ()):
            here = (*path, field, index)
            yield from (
                (here, key) for key in keys if is_mapping(entry) and not entry.keys() & {key, "$patch"}
            )
            yield from _unmerged(each, entry, here)
        if outer and is_type(outer) and inner is not None:
            yield from _unmerged(outer, inner, (*path, field))
