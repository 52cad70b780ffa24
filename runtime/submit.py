"""Submits a run: makes the Workflow that is created, and its name.

The name is derived from what is submitted, so that a request can be repeated without creating a second run: the server
accepts a name once. Source: two requests with one `generateName` create two objects.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import PREFIX
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_dns_subdomain
from flowdsl.runtime.cluster.kinds import CLUSTER_TEMPLATE, CRON, TEMPLATE
from flowdsl.runtime.cluster.kubernetes import SUBMIT_ID
from flowdsl.runtime.documents import base_of, own_name
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.prepare import named, scheduled, workflow
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.runtime.cluster.seam import Kind

Json = dict[str, Any]

_ORIGINS = {
    CRON: "cron-workflow",
    TEMPLATE: "workflow-template",
    CLUSTER_TEMPLATE: "cluster-workflow-template",
}
"""The labels of a run that name its origin."""
_LONGEST = 63
_DIGITS = 10


class Asked(NamedTuple):
    """The options of a submission."""

    parameters: Mapping[str, str]
    name: str = ""
    """The name of the run; derived from what is submitted if empty."""
    id: str = ""
    """An idempotency key: submitting the same run with the same id again does not create a second run."""
    labels: Mapping[str, str] = {}


def submission(document: Json, asked: Asked) -> Json:
    """The Workflow to create for a document: a Workflow, a CronWorkflow, or a template with an entrypoint.

    Raises RunError, as for parameters that it does not have.
    """
    run = _named(document, workflow(document, dict(asked.parameters)), asked)
    return scheduled(document, run)  # its name is not derived from the time


def from_template(kind: Kind, template: Json, asked: Asked) -> Json:
    """The Workflow to create from an object of the cluster: a reference to a template, or a copy of a CronWorkflow's.

    Raises RunError. Source: workflow/common/convert.go of Argo 4.1.
    """
    whole = submission({**template, "kind": kind.name}, asked)
    name = str(template["metadata"]["name"])
    labels = {f"{PREFIX}{_ORIGINS[kind]}": name, **part(whole["metadata"], "labels")}
    metadata = {**whole["metadata"], "labels": labels}
    if kind is CRON:
        owner = {
            "apiVersion": kind.api_version,
            "kind": kind.name,
            "name": name,
            "uid": template["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        return {**whole, "metadata": {**metadata, "ownerReferences": [owner]}}
    if not whole["spec"].get("entrypoint"):
        raise RunError(f"the {kind.name} `{name}` has no entrypoint: its templates are for other workflows")
    given = [
        one
        for one in several(part(whole["spec"], "arguments"), "parameters")
        if one["name"] in asked.parameters
    ]
    reference = {"name": name, **({"clusterScope": True} if kind is CLUSTER_TEMPLATE else {})}
    spec: Json = {"workflowTemplateRef": reference}
    if given:
        spec["arguments"] = {"parameters": given}
    return {**whole, "metadata": metadata, "spec": spec}


def meant(reference: str) -> tuple[Kind, str]:
    """The kind and the name in `template/NAME`, `cluster-template/NAME` or `cron/NAME`. Raises RunError."""
    word, _, name = reference.partition("/")
    kind = _KINDS.get(word)
    if kind is None or not is_dns_subdomain(name):
        raise RunError(f"--from {reference}: write template/NAME, cluster-template/NAME or cron/NAME")
    return kind, name


_KINDS = {
    **dict.fromkeys(("template", "workflowtemplate", "wftmpl"), TEMPLATE),
    **dict.fromkeys(("cluster-template", "clusterworkflowtemplate", "cwft"), CLUSTER_TEMPLATE),
    **dict.fromkeys(("cron", "cronworkflow", "cronwf"), CRON),
}


def _named(document: Json, run: Json, asked: Asked) -> Json:
    metadata: Json = run["metadata"]
    if asked.labels:
        metadata["labels"] = {**part(metadata, "labels"), **asked.labels}
    base = base_of(document) or "run"
    metadata["name"] = ""
    content = [run, asked.id or secrets.token_hex(16)]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    if asked.name:
        metadata["name"] = named(asked.name)
    else:
        kept = base[: _LONGEST - _DIGITS - 1].rstrip("-.")
        metadata["name"] = own_name(document) or f"{kept}-{digest[:_DIGITS]}"
    metadata["annotations"] = {**part(metadata, "annotations"), SUBMIT_ID: digest[:32]}
    return run
