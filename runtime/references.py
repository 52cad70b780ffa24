"""Collects the Kubernetes objects that the fields of a manifest name.

Names with a tag are known only at run time; the caller decides what to do with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.cluster.kinds import (
    ACCOUNT,
    CLAIM,
    CLUSTER_TEMPLATE,
    CONFIG_MAP,
    PRIORITY_CLASS,
    SECRET,
    STORAGE_CLASS,
    TEMPLATE,
)
from flowdsl.runtime.cluster.seam import Kind
from flowdsl.runtime.documents import containers
from flowdsl.runtime.local.objects import bodies, is_known, objects
from flowdsl.runtime.parts import name_of, part, several

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

SERVED = Kind("", "", "", "API", namespaced=False)
"""A pseudo-kind for a version of an API group: its name is `batch/v1`, its keys are kinds."""


def served_by(found: Json) -> set[str]:
    """The kinds in the API's list of resources for one version of a group."""
    return {str(one.get("kind")) for one in several(found, "resources")}


class Need(NamedTuple):
    """An object that has to exist, with the keys that it has to have.

    Keys of a Secret or ConfigMap; of a WorkflowTemplate, the names of templates. `namespace`: one other than that
    of the workflow. `soft` says why a run may succeed without it; empty if it cannot. `steps` are those that need
    it, none for the workflow itself.
    """

    kind: Kind
    name: str
    keys: tuple[str, ...] = ()
    namespace: str | None = None
    soft: str = ""
    steps: tuple[str, ...] = ()


def named_in(node: object) -> Iterator[Need]:
    """The objects that fields name, at any depth."""
    if is_list(node):
        for one in node:
            yield from named_in(one)
    elif is_mapping(node):
        fields = node
        if fields.get("value") is not None or part(fields, "valueFrom").get("default") is not None:
            fields = {key: value for key, value in fields.items() if key != "valueFrom"}
        for name, value in fields.items():
            if name in _FREE or not value:
                continue
            if name == "podSpecPatch" and isinstance(value, str):
                yield from _patched(value)
                continue
            if (need := _named(name, value, fields)) is not None:
                yield need
            elif name == "imagePullSecrets":
                for one in several(fields, name):
                    yield Need(
                        SECRET, str(one.get("name") or ""), soft="images that need no login are pulled"
                    )
            else:
                yield from named_in(value)


_FREE = (
    *("metadata", "podMetadata", "workflowMetadata", "labels", "annotations"),
    *("value", "default", "withItems", "resource", "memoize"),
)
"""Fields with arbitrary content of users; and `memoize`, whose ConfigMap is created by the controller."""
_BY_HAND = "a volume of that class may have been made by hand"
_BY_NAME = {
    "serviceAccountName": (ACCOUNT, ""),
    "priorityClassName": (PRIORITY_CLASS, ""),
    "podPriorityClassName": (PRIORITY_CLASS, ""),
    "storageClassName": (STORAGE_CLASS, _BY_HAND),
}
_WHOLE = {"secretRef": SECRET, "configMapRef": CONFIG_MAP}
_KEYED = {"secretKeyRef": SECRET, "configMapKeyRef": CONFIG_MAP, "krbConfigConfigMap": CONFIG_MAP}


def _named(field: str, value: Any, around: Json) -> Need | None:
    """The object that one field names, if it names one.

    Source: the fields of Argo 4.1; selectors of a Secret's key in artifacts and requests all end in `Secret`.
    """
    if field in _BY_NAME and isinstance(value, str):
        kind, soft = _BY_NAME[field]
        return Need(kind, value, soft=soft)
    if not is_mapping(value):
        return None
    found = value
    name = str(found.get("name") or "")
    optional = "" if not found.get("optional") else "it is optional"
    if field in _WHOLE:
        return None if optional else Need(_WHOLE[field], name)
    if field in _KEYED or (field.endswith("Secret") and "key" in found):
        if optional:
            return None
        within = around.get("namespace") if field == "configMapKeyRef" else None  # of a semaphore
        return Need(_KEYED.get(field, SECRET), name, (str(found.get("key") or ""),), within)
    if field == "templateRef":
        kind = CLUSTER_TEMPLATE if found.get("clusterScope") else TEMPLATE
        return Need(kind, name, (str(found.get("template") or ""),))
    if field == "workflowTemplateRef":
        return Need(CLUSTER_TEMPLATE if found.get("clusterScope") else TEMPLATE, name)
    if field == "artifactRepositoryRef":
        keys = (str(found["key"]),) if found.get("key") else ()
        elsewhere = "Argo looks in the namespace of its controller, too"
        return Need(CONFIG_MAP, str(found.get("configMap") or "artifact-repositories"), keys, soft=elsewhere)
    return None


def _patched(text: str) -> Iterator[Need]:
    """The objects that a podSpecPatch names, if it can be read before the run."""
    import yaml

    try:
        found: object = yaml.safe_load(text)
    except yaml.YAMLError:
        return
    if is_mapping(found):
        yield from named_in({key: value for key, value in found.items() if key != "volumes"})
        for volume in several(found, "volumes"):
            yield from _volume(volume)


def mounted(volumes: dict[str, Json], template: Json) -> Iterator[Need]:
    """The objects behind the volumes that a template mounts; Argo leaves out the others."""
    names = (str(mount.get("name")) for one in containers(template) for mount in several(one, "volumeMounts"))
    for name in dict.fromkeys(names):
        yield from _volume(volumes.get(name, {}))


def _volume(volume: Json) -> Iterator[Need]:
    yield Need(CLAIM, str(part(volume, "persistentVolumeClaim").get("claimName") or ""))
    for source in (volume, *several(part(volume, "projected"), "sources")):
        for field, kind in (("secret", SECRET), ("configMap", CONFIG_MAP)):
            found = part(source, field)
            keys = tuple(str(one["key"]) for one in several(found, "items") if one.get("key"))
            if not found.get("optional"):
                yield Need(kind, str(found.get("secretName") or found.get("name") or ""), keys)
    yield from named_in(part(volume, "ephemeral"))


def inside(resource: Json) -> Iterator[Need]:
    """The objects named by the pods that a resource template creates."""
    for pod in bodies(resource):
        found = [*named_in({key: value for key, value in pod.items() if key != "volumes"})]
        found += [need for volume in several(pod, "volumes") for need in _volume(volume)]
        yield from (need for need in found if is_known((need.name, *need.keys)))


def served(resource: Json) -> Iterator[Need]:
    """The kinds of the objects of a resource template, if its manifest names them."""
    for one in objects(resource):
        version, kind = str(one.get("apiVersion") or ""), str(one.get("kind") or "")
        if version and kind and is_known(version + kind):
            yield Need(SERVED, version, (kind,))


def made(resource: Json) -> Iterator[tuple[str, str]]:
    """The kinds and names of the objects that a resource template creates; a name that depends on the run is empty."""
    if resource.get("action") in ("create", "apply"):
        for one in objects(resource):
            name = name_of(one)
            yield str(one.get("kind") or ""), name if is_known(name) else ""
