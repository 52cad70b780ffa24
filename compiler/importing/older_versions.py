"""Converts manifests of older versions of Argo, and those exported from clusters, to the current form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.ports import as_text
from flowdsl.compiler.tree import is_list, is_mapping, mapping_at, mappings_at, pairs
from flowdsl.grammar.labels import LAST_APPLIED
from flowdsl.grammar.numbers import fixed

if TYPE_CHECKING:
    from flowdsl.compiler.importing.model import Json

#: Metadata that a cluster adds to stored objects.
_ADDED = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


def renew(body: Json) -> None:
    """Replace deprecated fields of a manifest by current ones, and remove what a cluster has added."""
    body.pop("status", None)
    metadata, spec = mapping_at(body, "metadata"), mapping_at(body, "spec")
    for field in _ADDED:
        metadata.pop(field, None)
    mapping_at(metadata, "annotations").pop(LAST_APPLIED, None)
    if "schedule" in spec:
        spec.setdefault("schedules", [spec.pop("schedule")])
    spec = mapping_at(spec, "workflowSpec") or spec
    if "ttlSecondsAfterFinished" in spec:
        spec.setdefault("ttlStrategy", {"secondsAfterCompletion": spec.pop("ttlSecondsAfterFinished")})
    _locks(spec)
    _scalars(mapping_at(spec, "arguments"))
    for template in mappings_at(spec, "templates"):
        _locks(template)
        _scalars(template)
        if template.get("parallelism") == 0:  # this means no limit
            del template["parallelism"]


def _locks(holder: Json) -> None:
    """`mutex` and `semaphore`: lists since 3.6."""
    held = mapping_at(holder, "synchronization")
    for one, several in (("mutex", "mutexes"), ("semaphore", "semaphores")):
        if one in held:
            held.setdefault(several, []).append(held.pop(one))


def _scalars(node: Any) -> None:
    """Convert values of parameters that are numbers or bools to texts, as Argo does."""
    for key, one in pairs(node) if is_mapping(node) or is_list(node) else ():
        if key == "parameters" and is_list(one):
            for parameter in filter(is_mapping, one):
                parameter |= {
                    field: _text(parameter[field])
                    for field in ("value", "default")
                    if isinstance(parameter.get(field), (bool, int, float))
                }
        elif key not in ("container", "script", "manifest"):
            _scalars(one)


def _text(value: float) -> str:
    """The text of a number, which Argo parses as float. Source: Argo Workflows, AnyString in anystring.go."""
    return as_text(value) if isinstance(value, bool) else fixed(float(value))
