"""A run brought into a folder, with `run.json`, which says where everything comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.runtime.artifacts.collect import Collector
from flowdsl.runtime.artifacts.folder import FORMAT, Folder
from flowdsl.runtime.artifacts.pieces import aliases, values
from flowdsl.runtime.artifacts.steps import effective, own, templates
from flowdsl.runtime.local.names import pod_name
from flowdsl.runtime.local.rounds import HIDDEN
from flowdsl.runtime.local.shapes import part, several

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from flowdsl.runtime.artifacts.collect import Outcome, Settings
    from flowdsl.runtime.artifacts.opening import Opener
    from flowdsl.runtime.artifacts.pieces import Piece, Run
    from flowdsl.runtime.artifacts.steps import Step

Json = dict[str, Any]

_POD_NAME = "workflows.argoproj.io/pod-name-format"


class Told(NamedTuple):
    """Whom a fetch tells what happens."""

    outcome: Callable[[Outcome], None]
    waits: Callable[[], None]


def fetch(
    run: Run, pieces: Sequence[Piece], path: Path, opener: Opener, settings: Settings, told: Told
) -> list[Outcome]:
    """Bring pieces of a run into a folder; what became of each.

    Raises NotOurs for a folder that holds something else, NoRoom, ClusterError, KeyboardInterrupt. After any of
    these the same call goes on where this one ended.
    """
    folder = Folder(path, identity(run.workflow))
    folder.open(told.waits)
    try:
        before = folder.before() or {}
        found = Collector(folder, opener, settings, told.outcome).collect(pieces)
        folder.finish(manifest(run, found, before))
    finally:
        folder.close()
    return found


def identity(workflow: Json) -> Json:
    """By what one run is told from another of its name."""
    metadata = workflow["metadata"]
    return {
        "name": str(metadata["name"]),
        "namespace": str(metadata.get("namespace") or ""),
        "uid": str(metadata.get("uid") or metadata.get("creationTimestamp") or ""),
    }


def manifest(run: Run, outcomes: Sequence[Outcome], before: Json) -> Json:
    """What `run.json` says. What an earlier fetch brought and this one was not asked for stays in it."""
    workflow = run.workflow
    metadata, status, spec = workflow["metadata"], part(workflow, "status"), effective(workflow)
    mine = {(one.piece.step.path, one.piece.output) for one in outcomes}
    outputs = [one for one in several(before, "outputs") if (one.get("step"), one.get("output")) not in mine]
    refused = [one for one in several(before, "refused") if (one.get("step"), one.get("output")) not in mine]
    names, bodies = aliases(run), templates(workflow)
    for one in outcomes:
        piece = one.piece
        if one.record is not None and one.found is not None:
            files = [
                {key: value for key, value in each._asdict().items() if value != ""}
                for each in one.found.files
            ]
            also = names.get((piece.location.store, piece.location.key), [])
            outputs.append({**one.record, "also": also, "files": files})
        for trouble in one.trouble:
            place = {"step": piece.step.path, "output": piece.output, "source": piece.location.said}
            refused.append({**place, "kind": type(trouble).__name__, "reason": str(trouble)})
    return {
        "flowdsl": FORMAT,
        "run": identity(workflow),
        "phase": status.get("phase"),
        "message": status.get("message"),
        "created": metadata.get("creationTimestamp"),
        "started": status.get("startedAt"),
        "finished": status.get("finishedAt"),
        "labels": metadata.get("labels") or {},
        "annotations": metadata.get("annotations") or {},
        "parameters": {
            str(one["name"]): one.get("value")
            for one in several(part(workflow["spec"], "arguments") or part(spec, "arguments"), "parameters")
        },
        "values": {str(one["name"]): one.get("value") for one in own(workflow, "parameters")},
        "steps": [_step(one, workflow, bodies) for one in run.steps],
        "outputs": sorted(outputs, key=lambda one: (str(one["step"]), str(one["output"]))),
        "refused": sorted(
            refused, key=lambda one: (str(one["step"]), str(one["output"]), str(one["reason"]))
        ),
    }


def _step(step: Step, workflow: Json, bodies: dict[str, Json]) -> Json:
    node, pod = step.node, step.pod
    template = str(pod.get("templateName") or "")
    body = bodies.get(template, {})
    image = part(body, "script").get("image") or part(body, "container").get("image")
    ran = pod.get("type") == "Pod"
    found: Json = {
        "step": step.path,
        "phase": step.phase,
        "message": node.get("message") or pod.get("message"),
        "template": template,
        "image": image,
        "node": pod.get("id"),
        "pod": _pod(pod, template, workflow) if ran else None,
        "host": pod.get("hostNodeName"),
        "started": node.get("startedAt"),
        "finished": node.get("finishedAt"),
        "inputs": {
            str(one["name"]): one.get("value")
            for one in several(part(pod, "inputs"), "parameters")
            if not str(one["name"]).startswith(HIDDEN)
        },
        "outputs": values(step),
    }
    return {key: value for key, value in found.items() if value not in (None, "", {})}


def _pod(node: Json, template: str, workflow: Json) -> str:
    """The name of a node's pod. Source: workflow/util/pod_name.go of Argo; v1 named pods after nodes."""
    metadata = workflow["metadata"]
    if part(metadata, "annotations").get(_POD_NAME) == "v1":
        return str(node.get("id"))
    name = str(part(node, "templateRef").get("template") or template)
    return pod_name(str(metadata["name"]), str(node.get("name")), name)
