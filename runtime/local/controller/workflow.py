"""A workflow before it runs: its spec merged with that of its workflowTemplateRef, and its variables.

Sources: setExecWorkflow, setGlobalParameters and substituteGlobalVariables in workflow/controller/operator.go, and
workflow/util/merge.go, of Argo 4.1.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from flowdsl.compiler.evaluation.evaluate import evaluate
from flowdsl.compiler.evaluation.go_quote import quoted
from flowdsl.compiler.evaluation.values import ExpressionError, json_of
from flowdsl.compiler.merge import OF_TEMPLATES, merged
from flowdsl.grammar import labels
from flowdsl.grammar.digest import sha256
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import DNS_LABEL_LENGTH, LABEL_VALUE
from flowdsl.runtime.local.controller.names import any_string, parameters_json
from flowdsl.runtime.local.controller.scope import Globals, Scope, Variables
from flowdsl.runtime.local.controller.tags import ArgoError, replaced
from flowdsl.runtime.local.controller.templates import not_in
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.times import rfc3339

Json = dict[str, Any]

_MARKS = ("annotations", "labels")
_OWN = {
    "annotations": {labels.POD_NAMES: "v2"},
    "labels": {labels.COMPLETED: "false", labels.PHASE: "Running"},
}
"""Labels and annotations that Argo itself sets when it starts a run."""
_FORMATS = "BbmAadHIMSYypZzL"
_UNSET = "failed to set global parameters: "


_LONG_LABEL = f"must be no more than {DNS_LABEL_LENGTH} bytes"
_BAD_LABEL = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


class EarlyError(ArgoError):
    """An error at the start that ends a run in Error: a missing template, or an invalid label."""


def spec_of(manifest: Json, references: list[Json]) -> Json:
    """The spec to execute, merged with that of the workflow's `workflowTemplateRef`, if any. Raises ArgoError."""
    spec: Json = part(manifest, "spec")
    reference = spec.get("workflowTemplateRef")
    if not reference:
        return spec
    kind = "ClusterWorkflowTemplate" if reference.get("clusterScope") else "WorkflowTemplate"
    for document in references:
        if document.get("kind") == kind and part(document, "metadata").get("name") == reference.get("name"):
            own = {name: value for name, value in spec.items() if name != "workflowTemplateRef"}
            found: Json = merged(_behind(own, part(document, "spec")), own, OF_TEMPLATES)
            return found
    raise EarlyError(f"{kind} {reference.get('name')} is not among the files of this run")


def _behind(own: Json, theirs: Json) -> Json:
    """The part of a template's spec to merge below that of a workflow, without values that are replaced as a whole."""
    left = {name: value for name, value in theirs.items() if name != "suspend"}
    if hooks := part(left, "hooks"):
        left["hooks"] = _without(hooks, part(own, "hooks"))
    metadata = part(left, "workflowMetadata")
    if made := part(metadata, "labelsFrom"):
        taken = part(part(own, "workflowMetadata"), "labelsFrom")
        left["workflowMetadata"] = {**metadata, "labelsFrom": _without(made, taken)}
    arguments = part(left, "arguments")
    if parameters := several(arguments, "parameters"):
        taken = {one["name"]: one for one in several(part(own, "arguments"), "parameters")}
        bare = [{"name": one["name"]} if one["name"] in taken else one for one in parameters]
        left["arguments"] = {**arguments, "parameters": bare}
    return left


def _without(of: Json, taken: Json) -> Json:
    return {name: value for name, value in of.items() if name not in taken}


def _uid(of: str) -> uuid.UUID:
    """A UID in the form of Kubernetes', the same for the same text."""
    return uuid.UUID(bytes=sha256(of.encode("utf-8", "surrogatepass")).digest()[:16], version=4)


def marks(manifest: Json) -> Json:
    """The initial labels and annotations of a run, as Argo reads them (setWfTemplateLabel)."""
    found = {kind: _texts(kind, part(manifest, "metadata")) for kind in _MARKS}
    reference: Json = part(part(manifest, "spec"), "workflowTemplateRef")
    if reference:
        label = labels.CLUSTER_TEMPLATE if reference.get("clusterScope") else labels.TEMPLATE
        found["labels"][label] = str(reference.get("name"))
    return found


def variables(
    manifest: Json, spec: Json, config: dict[str, dict[str, str]], now: float
) -> tuple[Globals, Json]:
    """The variables of a workflow at its start, and its labels and annotations from then on. Raises ArgoError."""
    metadata: Json = part(manifest, "metadata")
    name = str(metadata.get("name", ""))
    created = datetime.fromtimestamp(int(now), UTC)
    found = {
        "workflow.name": name,
        "workflow.namespace": str(metadata.get("namespace") or "default"),
        "workflow.mainEntrypoint": str(spec.get("entrypoint") or ""),
        "workflow.serviceAccountName": str(spec.get("serviceAccountName") or ""),
        "workflow.uid": str(metadata.get("uid") or _uid(f"{name}/{now!r}")),
        "workflow.creationTimestamp": rfc3339(now),
        "workflow.creationTimestamp.s": str(int(now)),
        "workflow.creationTimestamp.RFC3339": rfc3339(now),
    }
    if labels.SCHEDULED in part(metadata, "annotations"):
        found["workflow.scheduledTime"] = str(part(metadata, "annotations")[labels.SCHEDULED])
    if spec.get("priority") is not None:
        found["workflow.priority"] = any_string(spec["priority"])
    for sign in _FORMATS:
        text = {"L": ".000", "Z": "UTC", "z": "+0000"}.get(sign) or created.strftime(f"%{sign}")
        found[f"workflow.creationTimestamp.{sign}"] = text
    found |= of_parameters(part(spec, "arguments"), config)
    own = marks(manifest)
    written: Json = part(spec, "workflowMetadata")
    found |= _marks(own, written)
    found |= whole_marks(own)
    more: Json = replaced(written, Scope(Variables(found)), "nothing")
    found |= _marks(more)
    for key, text in _texts("labels", more).items():
        _check_label(text, f'for label "{key}"')
    made = Globals(found)
    computed: dict[str, str] = {}
    for key, source in part(more, "labelsFrom").items():
        try:
            value = evaluate(source["expression"], made.tree)
        except (ExpressionError, GrammarError) as error:
            raise EarlyError(f'failed to evaluate label "{key}": {error}') from None
        if not isinstance(value, str):
            raise EarlyError(f'failed to evaluate label "{key}": the value must be a string')
        _check_label(value, f'for label "{key}" and expression {quoted(source["expression"])}')
        made[f"workflow.labels.{key}"] = computed[key] = value
    return made, {kind: _texts(kind, own, more, {"labels": computed}, _OWN) for kind in _MARKS}


def of_parameters(arguments: Json, config: dict[str, dict[str, str]]) -> dict[str, str]:
    """The variables of the parameters of a workflow, of all and of each. Raises ArgoError."""
    parameters: list[Json] = several(arguments, "parameters")
    found = dict.fromkeys(("workflow.parameters", "workflow.parameters.json"), parameters_json(parameters))
    return found | {f"workflow.parameters.{one['name']}": _parameter(one, config) for one in parameters}


def _check_label(value: str, where: str) -> None:
    """Raise EarlyError for an invalid label value, as Kubernetes defines it (IsLabelValue)."""
    faults = [] if len(value.encode()) <= DNS_LABEL_LENGTH else [_LONG_LABEL]
    faults += [] if LABEL_VALUE.fullmatch(value) else [_BAD_LABEL]
    if faults:
        raise EarlyError(f"invalid label value {quoted(value)} {where}: {';'.join(faults)}")


def whole_marks(of: Json) -> dict[str, str]:
    """The variables with all labels, and with all annotations."""
    found = {f"workflow.{kind}": json_of(of[kind] or None) for kind in _MARKS}
    return found | {f"{name}.json": text for name, text in found.items()}


def _marks(*of: Json) -> dict[str, str]:
    """The variables of the single labels and annotations."""
    return {f"workflow.{kind}.{key}": text for kind in _MARKS for key, text in _texts(kind, *of).items()}


def _texts(kind: str, *of: Json) -> dict[str, str]:
    return {key: any_string(value) for one in of for key, value in part(one, kind).items()}


def _parameter(one: Json, config: dict[str, dict[str, str]]) -> str:
    if one.get("value") is not None:
        return any_string(one["value"])
    source: Json = part(one, "valueFrom")
    reference: Json | None = source.get("configMapKeyRef")
    if reference is not None:
        found = config.get(str(reference.get("name")), {}).get(str(reference.get("key")))
        if found is not None:
            return found
        if source.get("default") is not None:
            return any_string(source["default"])
        raise ArgoError(
            f"{_UNSET}failed to set global parameter {one['name']} from configmap with name {reference.get('name')} "
            f"and key {reference.get('key')}: {not_in(config, reference.get('name'), reference.get('key'))}"
        )
    raise ArgoError(
        f"{_UNSET}either value or valueFrom must be specified in order to set global parameter {one['name']}"
    )


def settled(spec: Json, globals: Variables) -> Json:
    """A spec with its tags replaced, except in its templates, where it happens at execution. Raises ArgoError."""
    rest = {name: value for name, value in spec.items() if name not in ("templates", "templateDefaults")}
    made: Json = replaced(rest, Scope(globals), "nothing")
    return {**made, **{name: spec[name] for name in ("templates", "templateDefaults") if name in spec}}
