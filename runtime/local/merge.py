"""Strategic merge, as far as pods and templates have it: lists of named things are merged by name.

Source: the patchMergeKey of the fields in k8s.io/api/core/v1 and pkg/apis/workflow/v1alpha1 of Argo 4.1.
"""

# Values of a manifest, and of expressions, may be anything.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections import deque
from typing import Any

_KEYS = {
    "artifacts": "name",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "parameters": "name",
    "ports": "containerPort",
    "sidecars": "name",
    "templates": "name",
    "tolerations": "key",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}


def merged(under: Any, over: Any, field: str = "") -> Any:
    """A value with another put over it; null takes a field away, `$patch: delete` an item of a list."""
    if isinstance(under, dict) and isinstance(over, dict):
        lower: dict[str, Any] = under
        upper: dict[str, Any] = over
        return _objects(lower, upper)
    key = _KEYS.get(field)
    if key is not None and isinstance(under, list) and isinstance(over, list):
        items: list[Any] = under
        patches: list[Any] = over
        return _lists(items, patches, key)
    return over


def _objects(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    if over.get("$patch") == "replace":
        return {name: value for name, value in over.items() if name != "$patch"}
    found = dict(under)
    for name, value in over.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value, name)
    return found


def _lists(under: list[Any], over: list[Any], key: str) -> list[Any]:
    """The items of the patch in its order; each other is before the first of them that it was before."""
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
        found.append(_objects(under[places[name]], patch) if name in places else patch)
    return [*found, *others]
