"""The program as Argo's objects: the only place that writes Argo's field names.

A manifest is plain dicts and lists in the order they are written. Beside it go the origins. Each concern of a
template has one module here, as in `flowdsl.options`, `compiler.options` and `ir`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.argo import objects, volumes
from flowdsl.compiler.argo.control import locked
from flowdsl.compiler.argo.exit_handler import of_run
from flowdsl.compiler.argo.inline import inlined
from flowdsl.compiler.argo.origins import Json, Origins, filled
from flowdsl.compiler.argo.patch import Patcher
from flowdsl.compiler.argo.sources import location
from flowdsl.compiler.argo.template import Writer
from flowdsl.compiler.schema.table import API_VERSION
from flowdsl.grammar.named import NamedTuple
from flowdsl.values.expr import Stored

if TYPE_CHECKING:
    from flowdsl.diagnostic import Diagnostic


class Manifest(NamedTuple):
    """One object for the cluster, the origins of its parts, and what patches of it must not touch.

    `typed`: the templates whose outputs are guaranteed to match their types.
    """

    body: Json
    origins: Origins
    refused: list[Diagnostic]
    typed: frozenset[str]


def to_argo(program: ir.Program, kind: str) -> Manifest:
    """A program as an object of that kind: a `Workflow` is to be created, everything else to be applied."""
    patcher = Patcher(Origins())
    typed = frozenset(
        one.name for one in program.templates if isinstance(one.body, ir.Pod) and one.body.typed
    )
    return Manifest(_document(program, kind, patcher), patcher.origins, patcher.refused, typed)


def _document(program: ir.Program, kind: str, patcher: Patcher) -> Json:
    origins = patcher.origins
    options = program.options
    metadata = objects.metadata(program, kind, origins)
    spec: Json = {"entrypoint": program.entrypoint}
    if program.exit is not None:
        spec["onExit"] = program.exit
        program = of_run(program)
    for field, option in _SPEC.items():
        if option in options:
            spec[field] = options[option]
            origins.note(spec, field, program.places[option])
    if "locks" in options:
        spec["synchronization"] = locked(options["locks"])
        origins.note(spec, "synchronization", program.places["locks"])
    objects.write_run(spec, program, kind, origins)
    if program.parameters:
        spec["arguments"] = {"parameters": [_parameter(one) for one in program.parameters]}
    if program.artifacts:
        files = [
            {"name": name, **location(value)}
            for name, value in program.artifacts
            if isinstance(value, Stored)
        ]
        spec.setdefault("arguments", {})["artifacts"] = files
    volumes.declare(spec, program.volumes, origins)
    program, inline = inlined(program)
    foreign = {one.name: one for one in program.templates if isinstance(one.body, ir.Reference)}
    inside = {one.name: one for one in program.templates if one.name in inline}
    writer = Writer(
        origins, inside, foreign, patcher, spec, program.volumes, objects.everywhere(program, patcher)
    )
    listed = [one for one in program.templates if one.name not in inline and one.name not in foreign]
    spec["templates"] = templates = [writer.template(one) for one in listed]
    for index, one in enumerate(listed):
        if one.patches:  # an error of a template as a whole is caused by a patch
            origins.note(templates, index, one.patches[-1].place)
    whole = objects.around(program, kind, spec, origins)
    document = {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": whole}
    origins.note(document, "spec", program.place)
    origins.note(document, "metadata", program.place)
    begins = any(template.get("dag", {}).get("tasks", True) for template in templates)
    if "workflowTemplateRef" in options.get("argo", {}) and not begins:
        del spec["entrypoint"], spec["templates"]  # runs use those of that template
    objects.patch(program, spec, document, patcher)
    return document


_SPEC = {
    "serviceAccountName": "service_account",
    "parallelism": "parallelism",
    "activeDeadlineSeconds": "timeout",
    "podPriorityClassName": "priority",
}


def _parameter(one: ir.Parameter) -> Json:
    """A parameter of the run; Argo rejects what is not in its `enum` before anything runs."""
    value = {} if one.value is None else {"value": one.value}
    return {"name": one.name, **value, **filled({"description": one.about, "enum": list(one.choices)})}
