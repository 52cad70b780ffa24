"""The object around a pipeline, in Argo's fields: a Workflow, a template of workflows, or a CronWorkflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.argo import patch as patches
from flowdsl.compiler.argo.placement import PLACES, admission
from flowdsl.compiler.argo.provenance import mark, of_runs
from flowdsl.compiler.options.patch import CRON, METADATA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json, Origins
    from flowdsl.compiler.argo.patch import Patcher


def write_run(spec: Json, program: ir.Program, kind: str, origins: Origins) -> None:
    """Write what applies to all pods of a run, and how long the run is kept.

    A suspended schedule starts no runs, so these are not suspended themselves. The runs of a template
    get its labels and annotations.
    """
    options, places = program.options, program.places
    for field, (option, form) in _RUN.items():
        if option in options and not (option == "suspend" and kind == "CronWorkflow"):
            spec[field] = form(options[option])
            origins.note(spec, field, places[option])
    if any(options.get(option) for option in (*_POD_MARKS.values(), "queue")):
        spec["podMetadata"] = _marked({}, program, _POD_MARKS, origins)
    if "queue" in options:
        marks = spec["podMetadata"]
        marks["labels"] = {**marks.get("labels", {}), **admission(str(options["queue"]))}
        origins.note(marks, "labels", places["queue"])
    if kind in _TEMPLATES:
        spec["workflowMetadata"] = _marked({}, program, _MARKS, origins, runs=True)


def _ttl(seconds: Any) -> Json:
    return {f"secondsAfter{outcome.capitalize()}": number for outcome, number in seconds.items()}


def _user(number: Any) -> Json:
    """A user, and the group that owns files on volumes. Source: Kubernetes, PodSecurityContext."""
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


def _marked(
    holder: Json, program: ir.Program, options: Mapping[str, str], origins: Origins, runs: bool = False
) -> Json:
    """An object with the labels and annotations set by options; `runs` of something have their own too."""
    if runs:
        holder["labels"] = {}
    for field, option in options.items():
        if program.options.get(option):
            holder[field] = dict(cast("Mapping[str, str]", program.options[option]))
            origins.note(holder, field, program.places[option])
    if runs:
        holder["labels"] |= of_runs(program)
    return holder


def metadata(program: ir.Program, kind: str, origins: Origins) -> Json:
    """The metadata of the object. A Workflow is created for each run, everything else is applied."""
    field = "generateName" if kind == "Workflow" else "name"
    found: Json = {field: f"{program.name}-" if kind == "Workflow" else program.name}
    if "name" in program.places:
        origins.note(found, field, program.places["name"])
    if "namespace" in program.options and kind != "ClusterWorkflowTemplate":
        found["namespace"] = program.options["namespace"]
    _marked(found, program, _MARKS, origins)
    mark(found, program)
    return found


def around(program: ir.Program, kind: str, spec: Json, origins: Origins) -> Json:
    """The spec of an object of that kind, wrapped around the spec of its workflows."""
    if kind != "CronWorkflow":
        return spec
    options, places = program.options, program.places
    found: Json = {}
    for field, option in _CRON.items():
        if option in options:
            found[field] = _listed(options[option])
            origins.note(found, field, places[option])
    found["workflowMetadata"] = _marked({}, program, _MARKS, origins, runs=True)
    found["workflowSpec"] = spec
    return found


def everywhere(program: ir.Program, patcher: Patcher) -> Json:
    """What the patch of the pipeline says about where all pods run."""
    whole: Mapping[str, Any] = program.options.get("argo", {})
    found: Json = {}
    said = {field: whole[field] for field in PLACES if whole.get(field)}
    if said:
        patcher.merge(found, said, patches.SPEC, program.places["argo"])
    return found


def patch(program: ir.Program, spec: Json, document: Json, patcher: Patcher) -> None:
    """Merge the patch of the pipeline: into the spec of its workflows, its metadata, and its schedule."""
    whole: Mapping[str, Any] = program.options.get("argo", {})
    if not whole:
        return
    place = program.places["argo"]
    target = patches.SPEC if "entrypoint" in spec else patches.REFERRING
    patcher.merge(
        spec, {key: value for key, value in whole.items() if key not in (METADATA, CRON)}, target, place
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
