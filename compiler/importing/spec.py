"""Converts the spec of a workflow to options of the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.fields import CRON, METADATA, SPEC, say
from flowdsl.compiler.importing.layout import literal, quoted
from flowdsl.compiler.importing.merging import merged
from flowdsl.compiler.naming import slug
from flowdsl.compiler.tree import entries, inside

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Json
    from flowdsl.compiler.importing.reading import Reading

_SAID = ("arguments", "templates", "volumes", "volumeClaimTemplates")
_BEGUN = ("entrypoint", "onExit")  # of its own templates; another object checks its own

#: The options that compile the file to a document of the same kind.
HEADS = {"WorkflowTemplate": " --as template", "ClusterWorkflowTemplate": " --as cluster-template"}


def pipeline_options(reader: Reading) -> dict[str, Code]:
    """The options of the pipeline, and the fields that are left to Argo."""
    said: dict[str, Code] = {}
    name = str(reader.metadata.pop("name", "") or reader.metadata.pop("generateName", "")).rstrip("-")
    reader.metadata.pop("generateName", None)
    for holder in (reader.cron, reader.spec):
        if holder.get("suspend") is False:
            del holder["suspend"]
    if name and slug(reader.main.name) != name:
        said["name"] = quoted(name)
    say(CRON, reader.cron, said)
    reader.metadata.pop("creationTimestamp", None)
    reader.metadata = reader.shelf.with_texts(reader.metadata, reader.main.name)
    say(METADATA, reader.metadata, said)
    inner = reader.cron.get("workflowMetadata")
    if inner and "labels" not in said and "annotations" not in said:
        say(METADATA, inner, said)
        if not inner:
            del reader.cron["workflowMetadata"]
    say(SPEC, reader.spec, said)
    said = {**reader.main.options, **said}
    patch = _left(reader)
    if patch:
        said["argo"] = literal(reader.shelf.with_texts(patch, reader.main.name))
    return said


def _left(reader: Reading) -> Json:
    """The fields of the workflow that are left to Argo."""
    known = _SAID if "workflowTemplateRef" in reader.spec else (*_SAID, *_BEGUN)
    spec: Json = {
        key: one for key, one in reader.spec.items() if key not in known and one not in (None, {}, [])
    }
    spec = reader.raw(spec, reader.main)
    if reader.used & {volume_name(one) for one in entries(reader.spec, "volumeClaimTemplates")}:
        spec.setdefault("volumeClaimGC", {"strategy": "OnWorkflowSuccess"})
        if spec["volumeClaimGC"].get("strategy") == "OnWorkflowCompletion":
            del spec["volumeClaimGC"]
    # A claim that is created for the run keeps its name in the pipeline.
    for field, said in (("volumes", reader.used - reader.mounted), ("volumeClaimTemplates", reader.used)):
        rest = [one for one in entries(reader.spec, field) if volume_name(one) not in said]
        if rest:
            spec[field] = reader.raw(rest, reader.main)
    arguments = {kind: [*some] for kind, some in reader.looked.items()}
    for one in entries(reader.spec, "arguments", "parameters"):
        made = reader.parameters.get(str(one["name"]))
        said = {"name", "value", "default", "description"}
        if made is None or made.annotation.startswith("Literal"):
            said.add("enum")
        besides = {key: item for key, item in one.items() if key not in said}
        if besides and made is not None:
            arguments["parameters"].append({"name": made.name, **besides})
    if any(arguments.values()):
        spec["arguments"] = {kind: some for kind, some in arguments.items() if some}
    templates = [
        {"name": slug(one.name), **patch}
        for one in sorted(reader.order, key=lambda one: one is not reader.main)
        if one.graph is not None
        for patch in one.graph.patched
    ]
    templates += reader.raw([*reader.kept.values()], reader.main)
    if templates:
        spec["templates"] = merged(templates)
    if reader.metadata:
        spec["metadata"] = reader.raw(reader.metadata, reader.main)
    if reader.cron:
        spec["cron"] = reader.cron
    return spec


def volume_name(one: Json) -> str:
    """The name of a volume, or of a claim that is created for a run."""
    return str(one.get("name") or inside(one, "metadata").get("name"))
