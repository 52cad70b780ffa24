"""`podSpecPatch`: a strategic merge of Kubernetes, in the parts that a local run honours."""

from __future__ import annotations

from typing import Any, cast

from flowdsl.runtime.local.pods.refusal import Refusal

Json = dict[str, Any]
_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
}
"""The field by which the entries of a list are the same ones. Source: patchMergeKey in k8s.io/api/core/v1."""


def patched(spec: Json, patches: list[str]) -> Json:
    """A pod with patches, which are texts in JSON or YAML, applied one after the other. Raises Refusal."""
    import yaml

    for text in patches:
        try:
            patch = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise Refusal(f"Error applying PodSpecPatch: {error}") from None
        if not isinstance(patch, dict):
            raise Refusal("Error applying PodSpecPatch: it is not an object")
        spec = _object(spec, cast(Json, patch))
    return spec


def _object(old: Json, patch: Json) -> Json:
    if patch.get("$patch") == "replace":
        return {name: value for name, value in patch.items() if name != "$patch"}
    found = dict(old)
    value: Any
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        elif isinstance(value, dict) and isinstance(found.get(name), dict):
            found[name] = _object(found[name], cast(Json, value))
        elif isinstance(value, list) and name in _KEYS:
            found[name] = _list(found.get(name) or [], cast(list[Json], value), _KEYS[name])
        else:
            found[name] = value
    return found


def _list(old: list[Json], patch: list[Json], key: str) -> list[Json]:
    found = list(old)
    for one in patch:
        at = next((place for place, other in enumerate(found) if other.get(key) == one.get(key)), None)
        if one.get("$patch") == "delete":
            if at is not None:
                del found[at]
        elif at is None:
            found.append(one)
        else:
            found[at] = _object(found[at], one)
    return found
