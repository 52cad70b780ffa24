"""Pods, Jobs, Deployments and the like in `resource` templates: what kubectl and the API server reject.

Their manifests are read without types: all that is no list or mapping is a text, and tags are words.
Source: Kubernetes 1.35, pkg/apis/batch/validation and pkg/apis/apps/validation; kubectl asks for strict validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.pods.untyped import WORD, Lacking, containers_of
from flowdsl.compiler.schema.findings import UnknownField, dotted
from flowdsl.compiler.schema.table import fields
from flowdsl.compiler.schema.validate import findings_of
from flowdsl.compiler.tree import compact, is_mapping, mappings_at, value_at
from flowdsl.diagnostic import near
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.tree import Object, Path


class Sort(NamedTuple):
    """A kind of object: the path to its pod, with the known fields at each step.

    `ends`: its pods terminate; `selects`: they never do, and it selects them by labels.
    """

    way: tuple[tuple[str, frozenset[str]], ...]
    ends: bool = False
    selects: bool = False

    @property
    def pod(self) -> tuple[str, ...]:
        """The path of its pod."""
        return tuple(step for step, _ in self.way)


_ANY: frozenset[str] = frozenset()
_TEMPLATE = frozenset(("metadata", "spec"))
_ENDING = ("Never", "OnFailure")
JOB_FIELDS = """
    activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector
    maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy selector successPolicy suspend template
    ttlSecondsAfterFinished
"""
"""The fields of the spec of a Job."""
_CRON_JOB = """
    concurrencyPolicy failedJobsHistoryLimit jobTemplate schedule startingDeadlineSeconds successfulJobsHistoryLimit
    suspend timeZone
"""
_SETS = {
    "Deployment": "minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit strategy",
    "ReplicaSet": "minReadySeconds replicas",
    "DaemonSet": "minReadySeconds revisionHistoryLimit updateStrategy",
    "StatefulSet": """
        minReadySeconds ordinals persistentVolumeClaimRetentionPolicy podManagementPolicy replicas revisionHistoryLimit
        serviceName updateStrategy volumeClaimTemplates
    """,
}


def _way(fields: str, *before: tuple[str, frozenset[str]]) -> tuple[tuple[str, frozenset[str]], ...]:
    """The path to the pod of an object, whose spec has these fields and a template."""
    return (
        *before,
        ("spec", _ANY if not before else _TEMPLATE),
        ("template", frozenset(fields.split())),
        ("spec", _TEMPLATE),
    )


_SORTS = {
    ("v1", "Pod"): Sort((("spec", _ANY),)),
    ("batch/v1", "Job"): Sort(_way(JOB_FIELDS), ends=True),
    ("batch/v1", "CronJob"): Sort(
        _way(JOB_FIELDS, ("spec", _ANY), ("jobTemplate", frozenset(_CRON_JOB.split()))), ends=True
    ),
    **{
        ("apps/v1", kind): Sort(_way(f"{fields} selector template"), selects=True)
        for kind, fields in _SETS.items()
    },
}


def pod_of(body: Any) -> Any:
    """The value at the path of an object's pod; None for an object without one."""
    sort = _sort(body)
    return None if sort is None else value_at(body, sort.pod)


def metadata_of(body: Any) -> Any:
    """The value at the path of the pods' metadata; None for a Pod, which has its own."""
    sort = _sort(body)
    if sort is None or len(sort.pod) == 1:
        return None
    return value_at(body, (*sort.pod[:-1], "metadata"))


def _sort(body: Object) -> Sort | None:
    return _SORTS.get((str(body.get("apiVersion")), str(body.get("kind"))))


def flaws(body: Any, flags: object) -> Iterator[Flaw]:
    """What is invalid in an object with pods, and the remedies; nothing for one of another kind."""
    if not is_mapping(body) or "spec" not in body:  # too obvious to be forgotten
        return
    sort = _sort(body)
    if sort is None or '"<<"' in compact(body) or "validate" in str(flags):
        return
    yield from _flaws(body, str(body["kind"]), sort)


def _flaws(body: Object, kind: str, sort: Sort) -> Iterator[Flaw]:
    node: Any = body
    for depth, (step, known) in enumerate(sort.way):
        for field in map(str, node):
            if known is not _ANY and field not in known:
                path = (*sort.pod[:depth], field)
                there = dotted(sort.pod) if field in fields("PodSpec") else ""
                yield not_a_field(f"the {kind}", path, known, there)
        node = node.get(step)
        if node == WORD:
            return
        if not is_mapping(node):
            place = dotted(sort.pod[: depth + 1])
            yield Lacking(f"the {kind} has no `{place}`", f"add `{place}`, with what its pods run")
            return
    if kind == "CronJob" and not body["spec"].get("schedule"):
        yield Lacking("the CronJob has no `spec.schedule`", "add `schedule` to its `spec`")
    yield from _pod(node, mappings_at(body, "spec", "volumeClaimTemplates"), kind, sort)
    yield from _selected(body, kind, sort)


def _pod(pod: Object, claims: list[Object], kind: str, sort: Sort) -> Iterator[Flaw]:
    """What is invalid in the pod of an object, which may make claims for it."""
    for finding in findings_of("PodSpec", pod):
        if isinstance(finding, UnknownField):
            yield not_a_field(f"the {kind}", (*sort.pod, *finding.steps), fields(finding.owner))
    owner, policy = its_pod(kind), pod.get("restartPolicy") or ""
    yield from container_flaws(pod, owner, claims)
    if sort.ends and policy in ("", "Always"):
        way = f"write `restartPolicy: Never` below `{dotted(sort.pod)}`, or `OnFailure`"
        if policy:
            yield f"{owner} cannot have `restartPolicy: Always`", way
        else:
            yield Lacking(f"{owner} has no `restartPolicy`", way)
    elif sort.selects and policy in _ENDING:
        yield f"{owner} cannot have `restartPolicy: {policy}`", "remove it, or make a Job of the object"


def container_flaws(
    pod: Object, owner: str, claims: Sequence[Object] = (), *, completed: bool = False
) -> Iterator[Flaw]:
    """What the containers of a pod lack, which may have volumes for claims.

    `completed`: another object may give them images and volumes.
    """
    if not pod.get("containers"):
        yield Lacking(f"{owner} has no containers", "add `containers` to its `spec`")
    volumes = {str(each.get("name")) for each in mappings_at(pod, "volumes")}
    volumes |= {str(metadata.get("name")) for each in claims if is_mapping(metadata := each.get("metadata"))}
    unknown = completed or pod.get("volumes") == WORD or any(WORD in each for each in volumes)
    for container in containers_of(pod):
        name = container.get("name") or ""
        for field in ("name",) if completed else ("name", "image"):
            if not container.get(field):
                what = f"the container `{name}`" if name else "a container"
                yield Lacking(f"{what} in {owner} has no `{field}`", f"add `{field}`")
        for mount in mappings_at(container, "volumeMounts"):
            used = str(mount.get("name"))
            if not unknown and used not in volumes and WORD not in used:
                found = f"the container `{name}` mounts `{used}`, and {owner} has no such volume"
                yield Lacking(found, "add it to `volumes`, beside `containers`")


def its_pod(kind: str) -> str:
    """The pod of an object, in words."""
    return "the Pod" if kind == "Pod" else f"the pod of the {kind}"


def _selected(body: Object, kind: str, sort: Sort) -> Iterator[Flaw]:
    """What is invalid in the label selector of an object."""
    if not sort.selects:
        return
    spec: Object = body["spec"]
    selector: Any = spec.get("selector")
    if not selector:
        way = "add `selector: {matchLabels: {...}}` to its `spec`, with the labels of its pods"
        yield Lacking(f"the {kind} has no `spec.selector`", way)
        return
    for field in map(str, selector if is_mapping(selector) else ()):
        if field not in fields("LabelSelector") and WORD not in field:
            way = f"write it below `matchLabels`, as in `matchLabels: {{{field}: ...}}`"
            yield f"the {kind} has `spec.selector.{field}`, which is not a field there, and is refused", way
    wanted = value_at(selector, ("matchLabels",))
    metadata = spec["template"].get("metadata")
    labels = value_at(metadata, ("labels",))
    if not is_mapping(wanted) or WORD in (selector, metadata, labels):
        return
    for key, value in wanted.items():
        own = value_at(labels, (key,))
        if own != value and WORD not in f"{key}{value}{own}":
            way = f"write `{key}: {value}` below `spec.template.metadata.labels`"
            found = f"the pods of the {kind} do not have the label `{key}: {value}` that it selects them by"
            yield Lacking(found, way) if own is None else (found, way)


def not_a_field(what: str, path: Path, known: Iterable[str], there: str = "") -> Flaw:
    """The flaw of an unknown field; `there` is where it belongs, if known."""
    close = near(str(path[-1]), known)
    way = f"write `{close}`, or remove it" if close else "remove it, or move it to where it belongs"
    way = f"move it to `{there}`" if there else way
    return f"{what} has `{dotted(path)}`, which is not a field there, and is refused", way
