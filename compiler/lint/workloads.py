"""Objects with pods, as `resource` templates make them: what kubectl and the API server refuse of them.

Their manifests are read without types: all that is no list or mapping is a text, and tags are words.
Source: Kubernetes 1.35, pkg/apis/batch/validation and pkg/apis/apps/validation; kubectl asks for strict validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.compiler.lint.tree import compact, is_list, is_mapping
from flowdsl.compiler.schema.findings import UnknownField, dotted
from flowdsl.compiler.schema.table import fields
from flowdsl.compiler.schema.validate import At, reading
from flowdsl.diagnostic import near

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.tree import Object, Path

    Flaw = tuple[str, str]


class Sort(NamedTuple):
    """A kind of object: where its pod stands, whether its pods may end, and the fields of its spec."""

    pod: tuple[str, ...]
    ends: bool
    known: frozenset[str]


_JOB = """
    activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector
    maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy selector successPolicy suspend template
    ttlSecondsAfterFinished
"""
_DEPLOYMENT = """
    minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit selector strategy template
"""
_SORTS = {
    ("batch/v1", "Job"): Sort(("spec", "template", "spec"), ends=True, known=frozenset(_JOB.split())),
    ("apps/v1", "Deployment"): Sort(
        ("spec", "template", "spec"), ends=False, known=frozenset(_DEPLOYMENT.split())
    ),
}
_ANY: frozenset[str] = frozenset()
_TEMPLATE = frozenset(("metadata", "spec"))
_ENDING = ("Never", "OnFailure")


def flaw(body: Any, flags: object) -> Flaw | None:
    """What is refused of an object with pods, and the way out; None where there is nothing, or it is another one."""
    if not is_mapping(body) or "spec" not in body:  # which nobody forgets
        return None
    sort = _SORTS.get((str(body.get("apiVersion")), str(body.get("kind"))))
    if sort is None or '"<<"' in compact(body) or "validate" in str(flags):
        return None
    return next(_flaws(body, str(body["kind"]), sort), None)


def _flaws(body: Object, kind: str, sort: Sort) -> Iterator[Flaw]:
    node: Any = body
    for depth, (step, known) in enumerate(zip(sort.pod, (_ANY, sort.known, _TEMPLATE), strict=True)):
        for field in map(str, node):
            if known is not _ANY and field not in known:
                path = (*sort.pod[:depth], field)
                yield _unknown(kind, path, known, dotted(sort.pod) if field in fields("PodSpec") else "")
        node = node.get(step)
        if node == "tag":
            return
        if not is_mapping(node):
            place = dotted(sort.pod[: depth + 1])
            yield f"the {kind} has no `{place}`", f"add `{place}`, with what its pods run"
            return
    yield from _pod(node, kind, sort)
    yield from _selected(body, kind, sort)


def _pod(pod: Object, kind: str, sort: Sort) -> Iterator[Flaw]:
    """What is refused of the pod of an object."""
    for fault in reading(False).object("PodSpec")(pod) or ():
        finding = fault.describe(At("PodSpec", fault.path, pod))
        if isinstance(finding, UnknownField):
            yield _unknown(kind, (*sort.pod, *finding.steps), fields(finding.owner), "")
    place, policy = dotted(sort.pod), pod.get("restartPolicy") or ""
    if not pod.get("containers"):
        yield f"the pod of the {kind} has no containers", f"add `containers` below `{place}`"
    if sort.ends and policy in ("", "Always"):
        found = "has no `restartPolicy`" if not policy else "cannot have `restartPolicy: Always`"
        yield (
            f"the pod of the {kind} {found}",
            f"write `restartPolicy: Never` below `{place}`, or `OnFailure`",
        )
    elif not sort.ends and policy in _ENDING:
        found = f"the pod of the {kind} cannot have `restartPolicy: {policy}`"
        yield found, "take it out, or make a Job of the object"


def _selected(body: Object, kind: str, sort: Sort) -> Iterator[Flaw]:
    """What is refused of the labels by which an object knows its pods."""
    if sort.ends:
        return
    spec: Object = body["spec"]
    selector: Any = spec.get("selector")
    if not selector:
        way = "add `selector: {matchLabels: {...}}` to its `spec`, with the labels of its pods"
        yield f"the {kind} has no `spec.selector`", way
        return
    wanted: Any = selector.get("matchLabels") if is_mapping(selector) else None
    metadata: Any = spec["template"].get("metadata")
    labels: Any = metadata.get("labels") if is_mapping(metadata) else None
    if is_list(wanted) or not is_mapping(wanted) or "tag" in (selector, metadata, labels):
        return
    for key, value in wanted.items():
        own = labels.get(key) if is_mapping(labels) else None
        if own != value and "tag" not in f"{key}{value}{own}":
            way = f"write `{key}: {value}` below `spec.template.metadata.labels`"
            yield (
                f"the pods of the {kind} do not have the label `{key}: {value}` that it selects them by",
                way,
            )


def _unknown(kind: str, path: Path, known: Any, there: str) -> Flaw:
    """The finding about a field that an object does not have at its place."""
    close = near(str(path[-1]), known)
    way = f"write `{close}`, or take it out" if close else "take it out, or move it to where it belongs"
    way = f"move it to `{there}`" if there else way
    return f"the {kind} has `{dotted(path)}`, which is not a field there, and is refused", way
