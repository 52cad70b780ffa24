"""The program as Argo's objects: the only place that writes Argo's field names.

A manifest is plain dicts and lists in the order they are written. Beside it go the origins. Each concern of a
template has one module here, as in `flowdsl.options`, `compiler.options` and `ir`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flowdsl.compiler.argo import placement
from flowdsl.compiler.argo.origins import Json, Origins
from flowdsl.compiler.argo.template import Writer
from flowdsl.compiler.split import inlined

if TYPE_CHECKING:
    from flowdsl.compiler import ir

API_VERSION = "argoproj.io/v1alpha1"


class Manifest(NamedTuple):
    """One object for the cluster, and where its parts come from."""

    body: Json
    origins: Origins


def to_argo(program: ir.Program, kind: str) -> Manifest:
    """A program as a `Workflow` (to be created) or a `WorkflowTemplate` (to be applied)."""
    origins = Origins()
    return Manifest(_document(program, kind, origins), origins)


def _document(program: ir.Program, kind: str, origins: Origins) -> Json:
    options = program.options
    metadata: Json = {"generateName": f"{program.name}-"} if kind == "Workflow" else {"name": program.name}
    if "namespace" in options:
        metadata["namespace"] = options["namespace"]
    for field in ("labels", "annotations"):
        if field in options:
            metadata[field] = options[field]
            origins.note(metadata, field, program.places[field])
    if "name" in program.places:
        for key in metadata:
            origins.setdefault((id(metadata), key), program.places["name"])
    spec: Json = {"entrypoint": program.entrypoint}
    for field, option in _SPEC.items():
        if option in options:
            spec[field] = {"secondsAfterCompletion": options[option]} if option == "ttl" else options[option]
            origins.note(spec, field, program.places[option])
    if "queue" in options:
        spec["podMetadata"] = {"labels": placement.admission(str(options["queue"]))}
        origins.note(spec, "podMetadata", program.places["queue"])
    if program.parameters:
        spec["arguments"] = {
            "parameters": [
                {"name": name} if value is None else {"name": name, "value": value}
                for name, value in program.parameters
            ]
        }
    if program.volumes:
        spec["volumes"] = [
            {"name": name, "persistentVolumeClaim": {"claimName": claim}} for name, claim in program.volumes
        ]
    program, inline = inlined(program)
    writer = Writer(origins, {one.name: one for one in program.templates if one.name in inline})
    spec["templates"] = [writer.template(one) for one in program.templates if one.name not in inline]
    document = {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
    origins.note(document, "spec", program.place)
    origins.note(document, "metadata", program.place)
    return document


_SPEC = {
    "serviceAccountName": "service_account",
    "parallelism": "parallelism",
    "activeDeadlineSeconds": "timeout",
    "podPriorityClassName": "priority",
    "ttlStrategy": "ttl",
}
