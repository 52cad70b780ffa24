"""What a run begins with: one workflow out of the documents of some files, with a name and its parameters."""

from __future__ import annotations

import difflib
import random
import re
from typing import Any

from flowdsl.runtime.local.names import any_string
from flowdsl.runtime.local.runner import RunError
from flowdsl.runtime.local.shapes import part, several, texts

Json = dict[str, Any]

_TEMPLATES = ("WorkflowTemplate", "ClusterWorkflowTemplate")
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_LONGEST_NAME = 63
_LONGEST = 58  # bytes of generateName that the API server keeps


def chosen(documents: list[Json]) -> tuple[Json, list[Json]]:
    """The document to run, and the templates that it may refer to. Raises RunError.

    A Workflow or CronWorkflow; of templates alone, the only one that has an entrypoint.
    """
    templates = [one for one in documents if one.get("kind") in _TEMPLATES]
    runs = [one for one in documents if one.get("kind") in ("Workflow", "CronWorkflow")]
    found = runs or [one for one in templates if part(one, "spec").get("entrypoint")]
    if len(found) == 1:
        return found[0], [one for one in templates if one is not found[0]]
    if not found:
        raise RunError("there is no Workflow, CronWorkflow or template with an entrypoint to run")
    names = ", ".join(map(_name, found))
    raise RunError(f"there are several to run: {names}; name one of them: FILE:NAME")


def _name(document: Json) -> str:
    metadata = part(document, "metadata")
    return str(metadata.get("name") or metadata.get("generateName") or "").rstrip("-")


def workflow(document: Json, parameters: dict[str, str], entrypoint: str | None = None) -> Json:
    """The Workflow that a document stands for, with a name of its own and values for its parameters.

    Raises RunError.
    """
    metadata, spec = part(document, "metadata"), part(document, "spec")
    base = str(metadata.get("generateName") or metadata.get("name") or "run")
    if document.get("kind") == "CronWorkflow":
        more = part(spec, "workflowMetadata")
        metadata = {key: part(more, key) for key in ("labels", "annotations")}
        spec = part(spec, "workflowSpec")
    fixed = document.get("kind") == "Workflow" and metadata.get("name")
    name = str(metadata["name"]) if fixed else f"{base[:_LONGEST].rstrip('-')}-{suffix()}"
    if entrypoint is not None:
        spec = {**spec, "entrypoint": entrypoint}
    kept = {key: metadata[key] for key in ("labels", "annotations", "namespace") if metadata.get(key)}
    return {
        "apiVersion": document.get("apiVersion", "argoproj.io/v1alpha1"),
        "kind": "Workflow",
        "metadata": {"name": name, **kept},
        "spec": _with_parameters(spec, parameters),
    }


def named(name: str) -> str:
    """A name for a run, as Kubernetes allows it. Raises RunError."""
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise RunError(
            f"--name {name}: a name has small letters, digits and hyphens, at most {_LONGEST_NAME}, "
            "with a letter or digit first and last"
        )
    return name


def suffix() -> str:
    """Five letters and digits, as the API server adds them to a generateName."""
    return "".join(random.choices("bcdfghjklmnpqrstvwxz2456789", k=5))


def _with_parameters(spec: Json, given: dict[str, str]) -> Json:
    declared = several(part(spec, "arguments"), "parameters")
    names = [str(one["name"]) for one in declared]
    for name in given:
        if name not in names and not spec.get("workflowTemplateRef"):
            near = difflib.get_close_matches(name, names, 1)
            known = (
                f"; did you mean `{near[0]}`?" if near else f"; it has {', '.join(names)}" if names else ""
            )
            raise RunError(f"the workflow has no parameter `{name}`{known}")
    made = [_parameter(one, given.get(str(one["name"]))) for one in declared]
    made.extend({"name": name, "value": value} for name, value in given.items() if name not in names)
    if not made:
        return spec
    return {**spec, "arguments": {**part(spec, "arguments"), "parameters": made}}


def _parameter(declared: Json, given: str | None) -> Json:
    name = str(declared["name"])
    if given is None:
        if all(declared.get(key) is None for key in ("value", "valueFrom", "default")):
            raise RunError(f"the parameter `{name}` has no value: give it with -p {name}=VALUE")
        return declared
    allowed = [any_string(value) for value in texts(declared, "enum")]
    if allowed and given not in allowed:
        raise RunError(f"the parameter `{name}` is one of {', '.join(allowed)}, not `{given}`")
    return {**{key: value for key, value in declared.items() if key != "valueFrom"}, "value": given}
