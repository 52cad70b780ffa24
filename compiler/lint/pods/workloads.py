"""Pods, Jobs, Deployments and the like in `resource` templates: what kubectl and the API server reject.

Their manifests are read without types: all that is no list or mapping is a text, and tags are words.
Source: Kubernetes 1.35, pkg/apis/batch/validation and pkg/apis/apps/validation; kubectl asks for strict validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.pods.untyped import WORD, Lacking, containers_of
from flowdsl.compiler.schema.findings import dotted
from flowdsl.compiler.schema.table import fields
from flowdsl.compiler.tree import compact, is_list, is_mapping, mappings_at, value_at
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.tree import Object


class Sort(NamedTuple):
    """A kind of object with pods: the path to their spec.

    `ends`: its pods terminate; `selects`: they never do, and it selects them by labels.
    """

    pod: tuple[str, ...]
    ends: bool = False
    selects: bool = False


_ENDING = ("Never", "OnFailure")
_TEMPLATE = ("spec", "template", "spec")
_SORTS = {
    ("v1", "Pod"): Sort(("spec",)),
    ("batch/v1", "Job"): Sort(_TEMPLATE, ends=True),
    ("batch/v1", "CronJob"): Sort(("spec", "jobTemplate", *_TEMPLATE), ends=True),
    **{
        ("apps/v1", kind): Sort(_TEMPLATE, selects=True)
        for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
    },
}


def way_to_pod(body: Object) -> tuple[str, ...]:
    """The path of the spec of an object's pods; empty for an object without pods."""
    sort = _sort(body)
    return () if sort is None else sort.pod


def pod_of(body: Object) -> Any:
    """The value at the path of an object's pod; None for an object without one."""
    way = way_to_pod(body)
    return value_at(body, way) if way else None


def metadata_of(body: Object) -> Any:
    """The value at the path of the pods' metadata; None for a Pod, which has its own."""
    way = way_to_pod(body)
    return value_at(body, (*way[:-1], "metadata")) if len(way) > 1 else None


def _sort(body: Object) -> Sort | None:
    return _SORTS.get((str(body.get("apiVersion")), str(body.get("kind"))))


def flaws(body: Any) -> Iterator[Flaw]:
    """What is invalid in an object with pods, and the remedies; nothing for one of another kind."""
    if not is_mapping(body) or "spec" not in body:  # too obvious to be forgotten
        return
    sort = _sort(body)
    if sort is None or '"<<"' in compact(body):
        return
    yield from _flaws(body, str(body["kind"]), sort)


def _flaws(body: Object, kind: str, sort: Sort) -> Iterator[Flaw]:
    node: Any = body
    for depth, step in enumerate(sort.pod, 1):
        node = node.get(step)
        if node == WORD:
            return
        if not is_mapping(node):
            place = dotted(sort.pod[:depth])
            yield Lacking(f"the {kind} has no `{place}`", f"add `{place}`, with what its pods run")
            return
    yield from _pod(node, value_at(body, ("spec", "volumeClaimTemplates")), kind, sort)
    yield from _selected(body, kind, sort)


def _pod(pod: Object, claims: Any, kind: str, sort: Sort) -> Iterator[Flaw]:
    """What is invalid in the pod of an object, which may make claims for it."""
    owner, policy = its_pod(kind), pod.get("restartPolicy") or ""
    yield from container_flaws(pod, owner, _named(claims, "metadata", "name"))
    if sort.ends and policy in ("", "Always"):
        way = f"write `restartPolicy: Never` below `{dotted(sort.pod)}`, or `OnFailure`"
        if policy:
            yield f"{owner} cannot have `restartPolicy: Always`", way
        else:
            yield Lacking(f"{owner} has no `restartPolicy`", way)
    elif sort.selects and policy in _ENDING:
        yield f"{owner} cannot have `restartPolicy: {policy}`", "remove it, or make a Job of the object"


def container_flaws(
    pod: Object, owner: str, added: Iterable[str] = (), *, completed: bool = False
) -> Iterator[Flaw]:
    """What the containers of a pod lack; volumes of the names in `added` are added to it.

    `completed`: another object may give them images and volumes.
    """
    if not pod.get("containers"):
        yield Lacking(f"{owner} has no containers", "add `containers` to its `spec`")
    volumes = {*added, *_named(pod.get("volumes"), "name")}
    unknown = completed or any(WORD in each for each in volumes)
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


def _named(listed: Any, *way: str) -> Iterator[str]:
    """The names in a list of objects, each at the end of a path; the word of a tag that stands for any of it."""
    for each in listed if is_list(listed) else (listed,):
        found = each
        for step in way:
            found = found.get(step) if is_mapping(found) else found
        yield str(found)


def its_pod(kind: str) -> str:
    """The pod of an object, in words."""
    return "the Pod" if kind == "Pod" else f"the pod of the {kind}"


def _selected(body: Object, kind: str, sort: Sort) -> Iterator[Flaw]:
    """What is invalid in the label selector of an object."""
    if not sort.selects:
        return
    spec: Object = body["spec"]
    selector: Any = spec.get("selector")
    if is_mapping(selector) and not any(selector.get(field) for field in fields("LabelSelector")):
        way = "add `matchLabels: {...}` to it, with the labels of its pods"
        yield Lacking(f"the `spec.selector` of the {kind} is empty", way)
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
