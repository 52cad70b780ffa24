"""Prepares a run: selects one workflow from the documents of some files, and sets its name and parameters."""

from __future__ import annotations

import time
from typing import Any

from flowdsl.grammar.labels import INSTANCE, SCHEDULED
from flowdsl.grammar.names import DNS_LABEL_LENGTH, is_dns_label
from flowdsl.runtime.documents import base_of, is_cron, is_run, is_template, own_name, workflow_spec
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.names import meant, suffix
from flowdsl.runtime.parts import part, several, texts
from flowdsl.runtime.times import rfc3339

Json = dict[str, Any]

_KEPT = ("labels", "annotations", "namespace", "finalizers", "ownerReferences")
_LONGEST = 58  # bytes of generateName that the API server keeps


def chosen(meant: list[Json], others: list[Json]) -> tuple[Json, list[Json]]:
    """The document to run, and the templates that it may refer to. Raises RunError.

    It is the only one of the selected documents that is `runnable`.
    """
    templates = [one for one in (*meant, *others) if is_template(one)]
    found = runnable(meant)
    if len(found) == 1:
        return found[0], [one for one in templates if one is not found[0]]
    if not found:
        raise RunError("there is no Workflow, CronWorkflow or template with an entrypoint to run")
    names = [base_of(one) for one in found]
    way = "name one of them: FILE:NAME" if len({*names}) > 1 else "give each a name of its own"
    raise RunError(f"there are several to run: {', '.join(names)}; {way}")


def runnable(documents: list[Json]) -> list[Json]:
    """Each Workflow and CronWorkflow; if there are only templates, each with an entrypoint."""
    runs = [one for one in documents if is_run(one) or is_cron(one)]
    return runs or [one for one in documents if is_template(one) and part(one, "spec").get("entrypoint")]


def workflow(document: Json, parameters: dict[str, str]) -> Json:
    """The Workflow of a document, with a name and the values of its parameters.

    Raises RunError.
    """
    spec = workflow_spec(document)
    base = base_of(document) or "run"
    name = own_name(document) or f"{base[:_LONGEST].rstrip('-')}-{suffix()}"
    return {
        "apiVersion": document.get("apiVersion", "argoproj.io/v1alpha1"),
        "kind": "Workflow",
        "metadata": {"name": name, **_metadata(document)},
        "spec": _with_parameters(spec, parameters),
    }


def scheduled(document: Json, run: Json) -> Json:
    """The Workflow of a CronWorkflow, with its scheduled time as Argo notes it: now."""
    if not is_cron(document):
        return run
    metadata = run["metadata"]
    annotations = {SCHEDULED: rfc3339(time.time()), **part(metadata, "annotations")}
    return {**run, "metadata": {**metadata, "annotations": annotations}}


def _metadata(document: Json) -> Json:
    """The metadata that a run takes over from a document.

    Labels and annotations of a template or a CronWorkflow are about that object, not about its runs, except for the
    one that selects the controller. Source: workflow/common/convert.go of Argo 4.1.
    """
    own = part(document, "metadata")
    if is_run(document):
        return {key: own[key] for key in _KEPT if own.get(key)}
    labels = part(own, "labels")
    more = part(part(document, "spec"), "workflowMetadata") if is_cron(document) else {}
    found = {
        "labels": {**{key: labels[key] for key in (INSTANCE,) if key in labels}, **part(more, "labels")},
        "annotations": part(more, "annotations"),
        "namespace": own.get("namespace"),
        "finalizers": more.get("finalizers"),
    }
    return {key: value for key, value in found.items() if value}


def named(name: str) -> str:
    """A name for a run, as Kubernetes allows it. Raises RunError."""
    if not is_dns_label(name):
        raise RunError(
            f"--name: `{name}` cannot be the name of a run: it has small letters, digits and hyphens, "
            f"at most {DNS_LABEL_LENGTH}, with a letter or digit first and last"
        )
    return name


def _with_parameters(spec: Json, given: dict[str, str]) -> Json:
    declared = several(part(spec, "arguments"), "parameters")
    names = [str(one["name"]) for one in declared]
    for name in given:
        if name not in names and not spec.get("workflowTemplateRef"):
            more = meant(name, names, f"it has {', '.join(names)}" if names else "it has none")
            raise RunError(f"the workflow has no parameter `{name}`; {more}")
    made = [_parameter(one, given.get(str(one["name"]))) for one in declared]
    made.extend({"name": name, "value": value} for name, value in given.items() if name not in names)
    if not made:
        return spec
    return {**spec, "arguments": {**part(spec, "arguments"), "parameters": made}}


def _unread(declared: Json) -> str:
    """Why the default of a parameter is invalid (validateArgumentsValues)."""
    return "" if declared.get("default") is None else "; to Argo the `default` of an argument is no value"


def _parameter(declared: Json, given: str | None) -> Json:
    name = str(declared["name"])
    if given is None:
        if declared.get("value") is None and declared.get("valueFrom") is None:
            raise RunError(
                f"the parameter `{name}` has no value: give it with -p {name}=VALUE{_unread(declared)}"
            )
        return declared
    return valued(declared, given)


def valued(declared: Json, given: str) -> Json:
    """A parameter with a value in place of its own value or source. Raises RunError."""
    name = str(declared["name"])
    allowed = [any_string(value) for value in texts(declared, "enum")]
    if allowed and given not in allowed:
        raise RunError(f"the parameter `{name}` is one of {', '.join(allowed)}, not `{given}`")
    rest = {key: value for key, value in declared.items() if key not in ("name", "value", "valueFrom")}
    return {"name": declared["name"], "value": given, **rest}
