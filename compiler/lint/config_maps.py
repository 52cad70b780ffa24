"""ConfigMaps in the same files as the manifests that read them: keys and labels that they lack.

Source: Argo Workflows, GetConfigMapValue in workflow/common/configmap.go, and workflow/controller/cache.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.manifest.typed import typed
from flowdsl.compiler.lint.manifest.view import View
from flowdsl.compiler.lint.repaired import sound
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, is_mapping, mapping_at, string
from flowdsl.diagnostic import Finding, near
from flowdsl.grammar.labels import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flowdsl.compiler.tree import Object, Path

    ConfigMaps = Mapping[tuple[str, str], Object]
    """By namespace and name, those that are there once."""


class MapLacks(Finding):
    """A ConfigMap of the same files that lacks a key which is read."""

    code = "FD853"
    title = "ConfigMap `{name}` {found}"
    label = "{reason}"
    help = "{way}"
    name: str
    found: str
    reason: str
    way: str


_LABEL = f"{PREFIX}configmap-type"
_WANTED = frozenset(
    (
        "Cache",
        "ConfigMapProjection",
        "ConfigMapVolumeSource",
        "EnvFromSource",
        "EnvVar",
        "Parameter",
        "SemaphoreRef",
    )
)


def config_maps(documents: Iterable[Any]) -> ConfigMaps:
    """The ConfigMaps among some documents, without those whose name is ambiguous."""
    found: dict[tuple[str, str], Object | None] = {}
    for body in documents:
        if is_mapping(body) and body.get("kind") == "ConfigMap" and is_mapping(body.get("metadata")):
            name, namespace = body["metadata"].get("name"), body["metadata"].get("namespace")
            key = (str(namespace or ""), str(name))
            found[key] = None if key in found else body
    return {key: body for key, body in found.items() if body is not None}


def lacking(document: Object, maps: ConfigMaps) -> Iterator[Problem]:
    """Every ConfigMap that is known has the keys and labels that references to it need."""
    if not maps:
        return
    whole = sound(document)
    if not whole.has_kind:
        return
    view = View(whole.document)
    own = string(view.metadata, "namespace")
    for found in typed(view, _WANTED) if view.exists else ():
        problems = _CHECKS[found.type](found.data, found.path, own, maps)
        yield from (whole.placed(problem) for problem in problems)


def _parameter(data: Object, path: Path, namespace: str, maps: ConfigMaps) -> Iterator[Problem]:
    """The findings about a parameter, which falls back to its `default` if the value does not exist."""
    place = (*path, "valueFrom", "configMapKeyRef")
    if data.get("value") is None and inside(data, "valueFrom").get("default") is None:
        reference = inside(data, "valueFrom", "configMapKeyRef")
        yield from _label(reference, place, namespace, maps, "Parameter")
        yield from _key(reference, place, namespace, maps)


def _variable(data: Object, path: Path, namespace: str, maps: ConfigMaps) -> Iterator[Problem]:
    reference = inside(data, "valueFrom", "configMapKeyRef")
    if not reference.get("optional"):
        yield from _key(reference, (*path, "valueFrom", "configMapKeyRef"), namespace, maps)


def _variables(data: Object, path: Path, namespace: str, maps: ConfigMaps) -> Iterator[Problem]:
    yield from _key(inside(data, "configMapRef"), (*path, "configMapRef"), namespace, maps)


def _files(data: Object, path: Path, namespace: str, maps: ConfigMaps) -> Iterator[Problem]:
    """The findings about a volume with keys of a ConfigMap; without them its pod does not start."""
    if data.get("optional"):
        return
    yield from _key({"name": data.get("name")}, path, namespace, maps)
    for place, item in entries_at(data, path, "items"):
        reference = {"name": data.get("name"), "key": item.get("key")}
        for problem in _key(reference, place, namespace, maps):
            if problem.path[-1] == "key":
                yield problem


def _cache(data: Object, path: Path, namespace: str, maps: ConfigMaps) -> Iterator[Problem]:
    yield from _label(inside(data, "configMap"), (*path, "configMap"), namespace, maps, "Cache")


def _semaphore(data: Object, path: Path, namespace: str, maps: ConfigMaps) -> Iterator[Problem]:
    """The findings about a semaphore, whose limit is in a ConfigMap, which may be in another namespace."""
    place, reference = (*path, "configMapKeyRef"), inside(data, "configMapKeyRef")
    namespace = string(data, "namespace") or namespace
    missing = list(_key(reference, place, namespace, maps))
    yield from missing
    name, key = string(reference, "name"), string(reference, "key")
    there = maps.get((namespace, name))
    value = None if there is None or missing else inside(there, "data").get(key)
    if isinstance(value, str) and (not re.fullmatch(r"[+-]?[0-9]+", value) or int(value) == 0):
        reason, way = "no number of places", f'write a number, as in `{key}: "2"`'
        yield Problem((*place, "key"), MapLacks(name, f"has `{value}` for `{key}`", reason, way))


def _label(reference: Object, path: Path, namespace: str, maps: ConfigMaps, wanted: str) -> Iterator[Problem]:
    """The finding about a ConfigMap that Argo ignores, because it lacks the label for its purpose."""
    name = string(reference, "name")
    there = maps.get((namespace, name))
    if there is not None and mapping_at(there, "metadata", "labels").get(_LABEL) != wanted:
        way = f"add the label `{_LABEL}: {wanted}` to its `metadata`"
        finding = MapLacks(name, f"is not labelled as one of type {wanted}", "Argo does not read it", way)
        yield Problem((*path, "name"), finding)


def _key(reference: Object, path: Path, namespace: str, maps: ConfigMaps) -> Iterator[Problem]:
    """The finding about a key that is not in a ConfigMap."""
    name, key = string(reference, "name"), string(reference, "key")
    there = maps.get((namespace, name))
    if there is None:
        return
    for field, value in mapping_at(there, "data").items():
        if isinstance(value, (bool, int, float, list, dict)):
            found, reason = f"has for `{field}` what is no text", "the API server refuses the ConfigMap"
            yield Problem((*path, "name"), MapLacks(name, found, reason, "write the value in quotes"))
            return
    if not key or "{{" in key:
        return
    known = [*map(str, mapping_at(there, "data")), *map(str, mapping_at(there, "binaryData"))]
    if key not in known:
        close = near(key, known)
        way = f"write `{close}`" if close else f"add `{key}` to its `data`"
        reason = f"did you mean `{close}`?" if close else "not there"
        yield Problem((*path, "key"), MapLacks(name, f"has no key `{key}`", reason, way))


_CHECKS = {
    "Cache": _cache,
    "ConfigMapProjection": _files,
    "ConfigMapVolumeSource": _files,
    "EnvFromSource": _variables,
    "EnvVar": _variable,
    "Parameter": _parameter,
    "SemaphoreRef": _semaphore,
}
