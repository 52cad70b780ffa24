"""Reads an Argo document: its kind, its name, and its parts."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import CONTAINER_BODIES
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.runtime.parts import name_of, part, several

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Json = dict[str, Any]

_TEMPLATES = ("WorkflowTemplate", "ClusterWorkflowTemplate")


def is_run(document: Json) -> bool:
    """Whether it is a single run, which may have its own name."""
    return document.get("kind") == "Workflow"


def is_cron(document: Json) -> bool:
    """Whether it starts runs on a schedule."""
    return document.get("kind") == "CronWorkflow"


def is_template(document: Json) -> bool:
    """Whether it is a template of the cluster, to which others refer."""
    return document.get("kind") in _TEMPLATES


def base_of(document: Json) -> str:
    """The name of a document, or the prefix of the names of its runs."""
    metadata = part(document, "metadata")
    return str(metadata.get("generateName") or metadata.get("name") or "").rstrip("-")


def own_name(document: Json) -> str:
    """The name of the run that a document is; empty if each run of it gets another one."""
    return name_of(document) if is_run(document) else ""


def workflow_spec(document: Json) -> Json:
    """The spec of the workflow that runs, which in a CronWorkflow is nested."""
    spec = part(document, "spec")
    return part(spec, "workflowSpec") if is_cron(document) else spec


def groups(template: Json) -> list[list[Json]]:
    """The groups of a template of steps; malformed ones are left out."""
    found: object = template.get("steps")
    return [list(filter(is_mapping, one)) for one in found if is_list(one)] if is_list(found) else []


def called(template: Json) -> Iterator[Json]:
    """The tasks or steps of a template."""
    yield from several(part(template, "dag"), "tasks")
    yield from chain.from_iterable(groups(template))


def claims(volumes: Iterable[Json]) -> dict[str, str]:
    """The claims of volumes, by the names of the volumes."""
    found = ((str(one.get("name")), part(one, "persistentVolumeClaim").get("claimName")) for one in volumes)
    return {name: str(claim) for name, claim in found if claim}


def containers(template: Json) -> Iterator[Json]:
    """The containers of a template that a user writes."""
    for name in CONTAINER_BODIES:
        if template.get(name) is not None:
            yield template[name]
    yield from several(part(template, "containerSet"), "containers")
    yield from several(template, "initContainers")
    yield from several(template, "sidecars")
