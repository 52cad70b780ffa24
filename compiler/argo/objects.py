"""The object around a pipeline, in Argo's fields: a Workflow, a template of workflows, or a CronWorkflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.argo import patch as patches
from flowdsl.compiler.options.patch import CRON, METADATA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json, Origins
    from flowdsl.compiler.argo.patch import Patcher


def write_run(spec: Json, program: ir.Program, kind: str, origins: Origins) -> None:
    """Write what holds for all pods of a run, and what is left of it.

    A schedule that is suspended starts no runs, so they are not suspended themselves. The runs of a template
    get its labels and annotations.
    """
    options, places = program.options, program.places
    for field, (option, form) in _RUN.items():
        if option in options and not (option == "suspend" and kind == "CronWorkflow"):
            spec[field] = form(options[option])
            origins.note(spec, field, places[option])
    if found := _marks(program, _POD_MARKS, origins):
        spec["podMetadata"] = found
    if kind in _TEMPLATES and (found := _marks(program, _MARKS, origins)):
        spec["workflowMetadata"] = found


def _ttl(seconds: Any) -> Json:
    return {f"secondsAfter{outcome.capitalize()}": number for outcome, number in seconds.items()}


def _user(number: Any) -> Json:
    """A user, and the group that files on volumes are given. Source: Kubernetes, PodSecurityContext."""
    return {"runAsUser": number, "runAsGroup": number, "fsGroup": number, "runAsNonRoot": number != 0}


def _same(value: Any) -> Any:
    return value


_RUN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "ttlStrategy": ("ttl", _ttl),
    "suspend": ("suspend", _same),
    "imagePullSecrets": ("image_pull_secrets", lambda names: [{"name": name} for name in names]),
    "securityContext": ("user", _user),
    "podGC": ("pod_gc", lambda strategy: {"strategy": strategy}),
    "archiveLogs": ("archive_logs", _same),
}
_MARKS = {"labels": "labels", "annotations": "annotations"}
_POD_MARKS = {"labels": "pod_labels", "annotations": "pod_annotations"}
_TEMPLATES = ("WorkflowTemplate", "ClusterWorkflowTemplate")


def _marks(program: ir.Program, fields: Mapping[str, str], origins: Origins) -> Json:
    """The labels and annotations that options give to one object."""
    found: Json = {}
    for field, option in fields.items():
        if program.options.get(option):
            found[field] = dict(cast("Mapping[str, str]", program.options[option]))
            origins.note(found, field, program.places[option])
    return found


def metadata(program: ir.Program, kind: str, origins: Origins) -> Json:
    """The metadata of the object. A Workflow is created again and again, everything else is applied."""
    field = "generateName" if kind == "Workflow" else "name"
    found = _marks(program, _MARKS, origins)
    named: Json = {field: f"{program.name}-" if kind == "Workflow" else program.name, **found}
    if "name" in program.places:
        origins.note(named, field, program.places["name"])
    for mark in found:
        origins.note(named, mark, program.places[_MARKS[mark]])
    return named


def around(program: ir.Program, kind: str, spec: Json, origins: Origins) -> Json:
    """The spec of an object of that kind around the spec of its workflows."""
    if kind != "CronWorkflow":
        return spec
    options, places = program.options, program.places
    found: Json = {}
    for field, option in _CRON.items():
        if option in options:
            found[field] = _listed(options[option])
            origins.note(found, field, places[option])
    if given := _marks(program, _MARKS, origins):
        found["workflowMetadata"] = given
    found["workflowSpec"] = spec
    return found


def patch(program: ir.Program, spec: Json, document: Json, patcher: Patcher) -> None:
    """Merge the patch of the pipeline: of the spec of its workflows, of its metadata, of its schedule."""
    whole: Mapping[str, Any] = cast("Any", program.options.get("argo", {}))
    if not whole:
        return
    place = program.places["argo"]
    patcher.merge(
        spec, {key: value for key, value in whole.items() if key not in (METADATA, CRON)}, patches.SPEC, place
    )
    patcher.merge(document["metadata"], whole.get(METADATA, {}), patches.METADATA, place, (METADATA,))
    if document["kind"] == "CronWorkflow":
        patcher.merge(document["spec"], whole.get(CRON, {}), patches.CRON, place, (CRON,))


def _listed(value: Any) -> Any:
    return [*value] if isinstance(value, tuple) else value


_CRON = {
    "schedules": "schedule",
    "timezone": "timezone",
    "concurrencyPolicy": "concurrency",
    "startingDeadlineSeconds": "starting_deadline",
    "successfulJobsHistoryLimit": "keep_succeeded",
    "failedJobsHistoryLimit": "keep_failed",
    "suspend": "suspend",
}
