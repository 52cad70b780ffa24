"""The objects that `resource` templates manage, read from their manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.kinds import MAKING
from flowdsl.compiler.tree import is_mapping
from flowdsl.grammar.template import TAG
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

_HOLE = "flowdsl-hole"
"""The placeholder for a tag."""


def objects(resource: Json) -> list[Json]:
    """The objects of a manifest before it runs, with a placeholder for each tag; none if it is not YAML."""
    return _read(TAG.sub(_HOLE, str(resource.get("manifest") or "")))


def replaced(resource: Json) -> list[Json]:
    """The same for a manifest whose tags are replaced: remaining braces are text."""
    return _read(str(resource.get("manifest") or ""))


def _read(manifest: str) -> list[Json]:
    import yaml

    try:
        documents: list[object] = list(yaml.safe_load_all(manifest))
    except yaml.YAMLError:
        return []
    return [one for each in documents if is_mapping(each) for one in several(each, "items") or [each]]


def is_known(thing: object) -> bool:
    """Whether no part of a value depends on the run."""
    return _HOLE not in str(thing)


def bodies(resource: Json) -> list[Json]:
    """The pod specs of the objects that a resource template creates: of a Job, a Deployment, a JobSet."""
    if resource.get("action") not in MAKING:
        return []
    return [body for one in objects(resource) for body in _bodies(one.get("spec"))]


def _bodies(thing: Any) -> Iterator[Json]:
    """The pod templates anywhere in a spec: objects whose own spec has containers."""
    if is_mapping(thing):
        pod = part(part(thing, "template"), "spec")
        if isinstance(pod.get("containers"), list):
            yield pod
        else:
            for value in thing.values():
                yield from _bodies(value)
    elif isinstance(thing, list):
        for value in cast("list[object]", thing):
            yield from _bodies(value)


def containers(resource: Json) -> Iterator[Json]:
    """The containers of the pods that a resource template creates."""
    for body in bodies(resource):
        for field in ("initContainers", "containers"):
            yield from several(body, field)
