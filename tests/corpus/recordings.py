"""What the real controller did, against what the machine does when its pods end in the same way.

`python -m tests.corpus.recordings` lists every difference, and counts them.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.machine import Machine
from flowdsl.runtime.local.controller.names import node_id
from tests.corpus import corpus
from tests.local.simulation import FOR_EVER, Pod, Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Object = dict[str, Any]

#: Fields of a node that are compared as they stand.
FIELDS = (
    "id",
    "displayName",
    "type",
    "phase",
    "message",
    "inputs",
    "outputs",
    "templateName",
    "templateRef",
    "templateScope",
    "boundaryID",
    "nodeFlag",
    "memoizationStatus",
)
#: Fields that hold the ids of nodes, in an order that is not told.
EDGES = ("children", "outboundNodes")
#: Differences that stay, and why.
EXCEPTIONS = {
    (
        "approve-then-go",
        "h-approve-then-go[1].approve message",
    ): "who resumed a step is written by the Argo server, not by the controller",
}


class Recording(NamedTuple):
    """A workflow that ran on a cluster: its name, what was submitted, its final object, and what was done to it."""

    name: str
    manifest: Object
    result: Object
    given: list[events.Event]


def seconds(text: str) -> float:
    """A time of Kubernetes in seconds."""
    return datetime.fromisoformat(text).timestamp()


def recordings() -> list[Recording]:
    """The runs of which the final object is kept."""
    found: list[Recording] = []
    for path in sorted(corpus("recordings").glob("*.json")):
        kept: Object = json.loads(path.read_text("utf-8"))
        found.append(Recording(path.stem, kept["manifest"], kept["result"], []))
    return found


def histories() -> list[Recording]:
    """The runs of which every change is kept."""
    return [_history(path) for path in sorted(corpus("recordings", "histories").glob("*.jsonl"))]


def _history(path: Path) -> Recording:
    first, *lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    changes: list[Object] = [line for line in lines if line.get("kind") == "wf"]
    result: Object = changes[-1]["object"]
    run = str(result["metadata"]["name"])
    began = next(line["at"] for line in changes if line["object"].get("status"))
    base = seconds(result["status"]["startedAt"]) - began
    given: list[events.Event] = []
    for line in changes:
        strategy = line["object"]["spec"].get("shutdown")
        if strategy and not given:
            given.append(events.ShutDown(base + line["at"], strategy))
    given.extend(
        events.Resumed(seconds(node["finishedAt"]), node_id(run, node["name"]), {})
        for node in result["status"]["nodes"].values()
        if node["type"] == "Suspend"
    )
    return Recording(path.stem, first["manifest"], result, given)


def replayed(recording: Recording) -> Simulation:
    """A run of the machine whose pods end when and as those of a recording did."""
    status: Object = recording.result["status"]
    nodes: dict[str, Object] = {node["name"]: node for node in status["nodes"].values()}
    machine = Machine(recording.manifest, [])

    def world(action: events.StartPod) -> Pod:
        node = nodes[action.name]
        # A pod that never ran was ended while it was pending, which left no word of its own.
        unscheduled = "hostNodeName" not in node
        message = "" if unscheduled else node.get("message", "")
        outcome = events.Outcome(node["phase"], message, node.get("outputs"))
        took = max(0.0, seconds(node["finishedAt"]) - machine.run.now)
        return Pod(outcome, took, pends=FOR_EVER if unscheduled else 0, stopped=outcome)

    return Simulation(machine, world, recording.given, seconds(status["startedAt"])).run()


def differences(recording: Recording) -> Iterator[tuple[str, str]]:
    """Where a run differs from its recording, and how."""
    simulation = replayed(recording)
    status: Object = recording.result["status"]
    ended = simulation.ended or events.Ended("Error", "it did not end")
    yield from different("phase", ended.phase, status["phase"])
    yield from different("message", ended.message, status.get("message", ""))
    yield from different("outputs", simulation.machine.run.outputs or None, status.get("outputs"))
    mine = {node.name: node.status() for node in simulation.machine.nodes.values()}
    theirs: dict[str, Object] = {node["name"]: node for node in status["nodes"].values()}
    yield from different("nodes", sorted(mine), sorted(theirs))
    for name in mine.keys() & theirs.keys():
        for field in FIELDS:
            yield from different(f"{name} {field}", mine[name].get(field), theirs[name].get(field))
        for field in EDGES:
            ours, others = mine[name].get(field, []), theirs[name].get(field, [])
            yield from different(f"{name} {field}", sorted(ours), sorted(others))


def different(what: str, ours: object, theirs: object) -> Iterator[tuple[str, str]]:
    """What differs and how, if two values do."""
    if ours != theirs:
        yield what, f"{ours!r}, recorded {theirs!r}"


def main() -> int:
    """List the differences; the exit code says whether there is one that is no exception."""
    runs = [*recordings(), *histories()]
    found = [(run.name, what, how) for run in runs for what, how in differences(run)]
    new = [one for one in found if one[:2] not in EXCEPTIONS]
    lines = [f"{name}: {what}: {how}" for name, what, how in found]
    lines.append(f"{len(runs)} runs, {len(found)} differences, {len(found) - len(new)} of them explained")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
