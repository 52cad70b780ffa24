"""Fetches a run into a folder, with a `run.json` that records where everything comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.artifacts.collect import Collector
from flowdsl.runtime.artifacts.folder import FORMAT, Folder
from flowdsl.runtime.artifacts.pieces import aliases, values
from flowdsl.runtime.names import is_hidden
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from flowdsl.runtime.artifacts.collect import Outcome, Settings
    from flowdsl.runtime.artifacts.opening import Opener
    from flowdsl.runtime.artifacts.pieces import Piece, Run
    from flowdsl.runtime.artifacts.steps import Step

Json = dict[str, Any]


class Told(NamedTuple):
    """The callbacks of a fetch."""

    outcome: Callable[[Outcome], None]
    waits: Callable[[], None]


def fetch(
    run: Run, pieces: Sequence[Piece], path: Path, opener: Opener, settings: Settings, told: Told
) -> list[Outcome]:
    """Fetch pieces of a run into a folder; returns the outcome of each.

    Raises NotOurs for a folder that holds something else, NoRoom, ClusterError, KeyboardInterrupt. After any of
    these the same call resumes where this one ended.
    """
    folder = Folder(path, identity(run.status.workflow))
    folder.open(told.waits)
    try:
        before = folder.before() or {}
        found = Collector(folder, opener, settings, told.outcome).collect(pieces)
        folder.finish(manifest(run, found, before))
    finally:
        folder.close()
    return found


def identity(workflow: Json) -> Json:
    """What distinguishes a run from another one of its name."""
    metadata = workflow["metadata"]
    return {
        "name": str(metadata["name"]),
        "namespace": str(metadata.get("namespace") or ""),
        "uid": str(metadata.get("uid") or metadata.get("creationTimestamp") or ""),
    }


def manifest(run: Run, outcomes: Sequence[Outcome], before: Json) -> Json:
    """The content of `run.json`. What an earlier fetch brought, and this one was not asked for, stays in it."""
    status = run.status
    metadata, said = status.workflow["metadata"], part(status.workflow, "status")
    mine = {(one.piece.step.path, one.piece.output) for one in outcomes}
    outputs = [one for one in several(before, "outputs") if (one.get("step"), one.get("output")) not in mine]
    refused = [one for one in several(before, "refused") if (one.get("step"), one.get("output")) not in mine]
    names = aliases(run)
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
            refused.append({**place, "kind": trouble.kind, "reason": str(trouble)})
    return {
        "flowdsl": FORMAT,
        "run": identity(status.workflow),
        "phase": said.get("phase"),
        "message": said.get("message"),
        "created": metadata.get("creationTimestamp"),
        "started": said.get("startedAt"),
        "finished": said.get("finishedAt"),
        "labels": metadata.get("labels") or {},
        "annotations": metadata.get("annotations") or {},
        "parameters": status.parameters(),
        "values": status.outputs(),
        "steps": [_step(one, run) for one in run.steps],
        "outputs": sorted(outputs, key=lambda one: (str(one["step"]), str(one["output"]))),
        "refused": sorted(
            refused, key=lambda one: (str(one["step"]), str(one["output"]), str(one["reason"]))
        ),
    }


def _step(step: Step, run: Run) -> Json:
    node, pod = step.node, step.pod
    body = run.status.templates.of(pod)
    found: Json = {
        "step": step.path,
        "phase": node.phase,
        "message": node.message or pod.message,
        "template": pod.template,
        "image": part(body, "script").get("image") or part(body, "container").get("image"),
        "node": pod.id,
        "pod": run.status.pod_name(pod) if pod.type == "Pod" else None,
        "host": pod.host,
        "started": node.found.get("startedAt"),
        "finished": node.found.get("finishedAt"),
        "inputs": {
            str(one["name"]): one.get("value")
            for one in several(pod.inputs, "parameters")
            if not is_hidden(str(one["name"]))
        },
        "outputs": values(step),
    }
    return {key: value for key, value in found.items() if value not in (None, "", {})}
