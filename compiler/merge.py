"""Strategic merge, as far as pods and templates have it: lists of named things are merged by name.

Source: the patchMergeKey of the fields in k8s.io/api/core/v1 and pkg/apis/workflow/v1alpha1 of Argo 4.1.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_PODS: Mapping[str, str] = {
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ports": "containerPort",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
"""The merge keys of the lists of a pod, by the field with the list."""

OF_TEMPLATES: Mapping[str, str] = {
    **OF_PODS,
    "artifacts": "name",
    "parameters": "name",
    "sidecars": "name",
    "templates": "name",
    "tolerations": "key",
}
"""The same for a template, and for a workflow."""


def merged(under: Any, over: Any, keys: Mapping[str, str], field: str = "") -> Any:
    """A value with a patch applied; null removes a field, `$patch: delete` an item of a list."""
    if is_mapping(under) and is_mapping(over):
        return _objects(under, over, keys)
    if field in keys and is_list(under) and is_list(over):
        return _lists(under, over, keys, keys[field])
    return over


def _objects(under: dict[str, Any], over: dict[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    if over.get("$patch") == "replace":
        return {name: value for name, value in over.items() if name != "$patch"}
    found = dict(under)
    for name, value in over.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value, keys, name)
    return found


def _lists(under: list[Any], over: list[Any], keys: Mapping[str, str], key: str) -> list[Any]:
    """The items of the patch in its order; any other stays before the first of those that it preceded."""
    places = {item.get(key): place for place, item in enumerate(under)}
    patched = {item.get(key) for item in over}
    others = deque(item for item in under if item.get(key) not in patched)
    found: list[Any] = []
    for patch in over:
        if patch.get("$patch") == "delete":
            continue
        name = patch.get(key)
        while others and places[others[0].get(key)] < places.get(name, 0):
            found.append(others.popleft())
        found.append(_objects(under[places[name]], patch, keys) if name in places else patch)
    return [*found, *others]
