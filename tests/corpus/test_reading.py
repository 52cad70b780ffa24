"""What `get` and `list` show of what the real controller did: nothing is lost, and everything fits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowdsl.cli.display.paint import Paint
from flowdsl.cli.display.picture import Picture
from flowdsl.cli.display.texts import wide
from flowdsl.cli.runs.listing import listing
from flowdsl.cli.runs.reading import machine_readable
from flowdsl.runtime.local.controller.names import pod_name
from flowdsl.runtime.status.node import Node
from flowdsl.runtime.status.run import Run
from tests.corpus import corpus

Json = dict[str, Any]

NOW = 1_800_000_000.0
RECORDINGS = sorted(corpus("recordings").glob("*.json"))
HISTORIES = sorted(corpus("recordings", "histories").glob("*.jsonl"))
each_recording = pytest.mark.parametrize("path", RECORDINGS, ids=[path.stem for path in RECORDINGS])
each_history = pytest.mark.parametrize("path", HISTORIES, ids=[path.stem for path in HISTORIES])
WIDTHS = (80, 140)


def result(path: Path) -> Json:
    found: Json = json.loads(path.read_text("utf-8"))["result"]
    return found


def states(path: Path) -> list[tuple[Json, list[Json]]]:
    """Each state of a run, with the pods that there were."""
    found: list[tuple[Json, list[Json]]] = []
    workflow: Json | None = None
    pods: dict[str, Json] = {}
    for text in path.read_text("utf-8").splitlines()[1:-1]:
        line = json.loads(text)
        name = line["object"]["metadata"]["name"]
        if line["kind"] == "wf":
            workflow = line["object"]
        elif line["type"] == "DELETED":
            del pods[name]
        else:
            pods[name] = line["object"]
        if workflow is not None:
            found.append((workflow, list(pods.values())))
    return found


def shown(run: Run, room: int | None, *, everything: bool = False) -> str:
    text = Picture(run, Paint(None), room, NOW, everything=everything).text()
    assert all(one.isprintable() for one in text.replace("\n", ""))
    assert room is None or max(map(wide, text.splitlines())) <= room
    return text


def check(run: Run) -> None:
    status: Json = run.workflow.get("status") or {}
    nodes: dict[str, Json] = status.get("nodes") or {}
    for room in WIDTHS:
        text = shown(run, room)
        assert re.search(rf"^Status: +{re.escape(run.status)}$", text, re.MULTILINE)
        assert not run.progress or re.search(rf"^Progress: +{run.progress}$", text, re.MULTILINE)
    text = shown(run, None, everything=True)
    rows = text.partition("STEP ")[2].splitlines()
    pods = [one for one in nodes.values() if one["type"] == "Pod"]
    for pod in pods:
        name = pod_name(run.name, pod["name"], pod["templateName"])
        (row,) = (one for one in rows if re.search(rf" {re.escape(name)}(?: |$)", one))
        assert re.search(rf" {pod['phase']} ", row), (pod["name"], row)
        assert pod.get("hostNodeName", "") in row
    (counts,) = re.findall(r"^Steps: +(.*)$", text, re.MULTILINE) or [""]
    before = {id(one) for node in run.nodes.values() for one in node.attempts() if one is not node.result()}
    assert sum(int(number) for number in re.findall(r"\d+", counts)) == sum(
        not any(id(one) in before for one in around(node))
        for node in run.nodes.values()
        if node.type in ("Pod", "Skipped", "Suspend") or (node.type == "Retry" and not node.children)
    )


def around(node: Node | None) -> Iterator[Node]:
    """A node, and the graphs that it is part of."""
    while node is not None:
        yield node
        node = node.boundary


@each_recording
def test_a_run_is_shown_whole(path: Path) -> None:
    check(Run(result(path)))


@each_history
def test_each_state_on_the_way_is_shown_whole(path: Path) -> None:
    for workflow, pods in states(path):
        run = Run(workflow, pods)
        check(run)
        for pod in pods:
            node = run.nodes.get(pod["metadata"]["annotations"]["workflows.argoproj.io/node-id"])
            assert node is None or run.pod(node) is pod  # a pod may be there before its node


@each_recording
def test_json_and_yaml_lose_nothing(path: Path) -> None:
    import yaml

    found = result(path)
    wanted = {
        **found,
        "metadata": {key: one for key, one in found["metadata"].items() if key != "managedFields"},
    }
    assert json.loads(machine_readable(found, "json")) == wanted
    assert yaml.safe_load(machine_readable(found, "yaml")) == wanted


@pytest.mark.parametrize("room", WIDTHS)
@pytest.mark.parametrize("everything", [False, True])
def test_all_runs_are_listed(room: int, everything: bool) -> None:
    runs = [Run(result(path)) for path in RECORDINGS]
    runs += [Run(workflow) for path in HISTORIES for workflow, _ in states(path)]
    text = listing(runs, NOW, everywhere=True, everything=everything, room=room)
    lines = text.splitlines()
    assert len(lines) == 1 + len(runs)
    for run, row in zip(runs, lines[1:], strict=True):
        assert wide(row) <= room
        assert row.isprintable()
        namespace, name, _, status, *_ = row.split()
        assert namespace == run.namespace
        assert status == run.phase
        assert run.name.startswith(name.removesuffix("..."))
        assert room == 80 or name == run.name


def test_a_pod_without_a_node_says_why_and_takes_no_hours() -> None:
    found = states(corpus("recordings", "histories", "gpu-pending-then-terminated.jsonl"))
    reasons = {
        run.why(node) for run in (Run(*state) for state in found) for node in run.pods_of() if not node.ended
    }
    assert any(
        one.startswith("Unschedulable: 0/1 nodes are available: 1 node(s) didn't match") for one in reasons
    )
    last = Run(*found[-1])
    assert (last.status, last.requested(), last.gpu_hours(NOW)) == ("Failed (Terminated)", 0, 0.0)
    assert [last.gpus(node) for node in last.pods_of()] == [{"nvidia.com/gpu": 1}]
    assert {Run(*state).requested() for state in found if not Run(*state).ended} == {0, 1}


def test_a_gate_is_waited_at() -> None:
    found = [Run(*state) for state in states(corpus("recordings", "histories", "approve-then-go.jsonl"))]
    texts = [shown(run, 80) for run in found if run.status == "Running (Suspended)"]
    assert texts
    assert all("waits to be resumed" in text for text in texts)
    assert found[-1].status == "Succeeded"
