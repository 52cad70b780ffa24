"""Each case of tests/local/machine: a workflow in a world, and the nodes that Argo's controller would leave."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
import yaml

from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.cache import Cache, Entry
from flowdsl.runtime.local.controller.names import node_id
from flowdsl.runtime.local.status import workflow
from tests.goldens import same
from tests.local.simulation import FOR_EVER, START, Pod, Simulation, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from flowdsl.runtime.local.controller.node import Node

Json = dict[str, Any]
CASES = sorted((Path(__file__).parent / "machine").glob("*.yaml"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_a_workflow_in_its_world_leaves_the_nodes_that_argo_leaves(
    case: Path, request: pytest.FixtureRequest
) -> None:
    manifest, *others = yaml.load_all(case.read_text("utf-8"), yaml.CSafeLoader)
    world: Json = others.pop()["world"] if others and "world" in others[-1] else {}
    run = str(manifest["metadata"]["name"])
    simulation = simulate(
        manifest,
        pods_of(world.get("pods", {})),
        *[event_of(run, one) for one in world.get("events", [])],
        references=[one for one in others if one["kind"].endswith("WorkflowTemplate")],
        config={one["metadata"]["name"]: one["data"] for one in others if one["kind"] == "ConfigMap"},
        cache=cache_of(world.get("cache", {})),
    )
    same(drawn(simulation, world), case.with_suffix(".nodes"), request)


def test_progress_counts_all_nodes_that_do_something_themselves() -> None:
    containers = [{"name": name, "image": "a"} for name in ("a", "main")]
    bad = {"name": "bad", "retryStrategy": {"limit": 1}, "container": {"image": "a", "command": ["a"]}}
    templates: list[Json] = [
        {"name": "set", "containerSet": {"containers": containers}},
        {"name": "pause", "suspend": {"duration": "1"}},
        bad,
        {
            "name": "main",
            "dag": {
                "tasks": [
                    {"name": "set", "template": "set"},
                    {"name": "pause", "template": "pause", "depends": "set"},
                    {"name": "also", "template": "pause", "depends": "set"},
                    {"name": "bad", "template": "bad", "depends": "pause && also"},
                    {"name": "never", "template": "set", "depends": "bad.Succeeded"},
                ]
            },
        },
    ]
    manifest: Json = {"metadata": {"name": "run"}, "spec": {"entrypoint": "main", "templates": templates}}
    world = {"set": {"containers": {"a": "Succeeded", "main": "Succeeded"}}, "bad*": {"phase": "Failed"}}
    status = workflow(simulate(manifest, pods_of(world)).machine)["status"]
    assert status["progress"] == "5/7"
    assert {node["name"].partition(".")[2]: node.get("progress") for node in status["nodes"].values()} == {
        "": "5/7",
        "set": "1/1",
        "set.a": "1/1",
        "set.main": "1/1",
        "pause": "1/1",
        "also": "1/1",
        "bad": "0/2",
        "bad(0)": "0/1",
        "bad(1)": "0/1",
        "never": None,
    }


def test_a_hook_that_has_no_place_twice_is_judged_again_once() -> None:
    hook = {"expression": "steps.one.status == 'Running'", "template": "leaf"}
    group: list[Json] = [
        {"name": "one", "template": "leaf", "hooks": {"h": hook}},
        {"name": "other", "template": "graph"},
    ]
    templates: list[Json] = [
        {"name": "main", "parallelism": 1, "steps": [group]},
        {"name": "leaf", "container": {"image": "a"}},
        {"name": "graph", "dag": {"tasks": [{"name": "inner", "template": "leaf"}]}},
    ]
    defaults = {"retryStrategy": {"limit": "1"}}
    spec = {"entrypoint": "main", "templateDefaults": defaults, "templates": templates}
    machine = simulate({"metadata": {"name": "run"}, "spec": spec}).machine
    assert (machine.phase, machine.message) == ("Failed", "No more retries left")
    groups = [machine.nodes[f"run({attempt})[0]"] for attempt in range(2)]
    assert [(one.phase, one.message) for one in groups] == [("Error", "Max parallelism reached")] * 2


def test_a_run_has_a_uid_of_its_own_if_it_was_given_none() -> None:
    def uid(**metadata: str) -> str:
        given = {"parameters": [{"name": "uid", "value": "{{workflow.uid}}"}]}
        main: Json = {"name": "main", "steps": [[{"name": "say", "template": "say", "arguments": given}]]}
        say: Json = {"name": "say", "inputs": {"parameters": [{"name": "uid"}]}, "container": {"image": "a"}}
        manifest: Json = {"metadata": metadata, "spec": {"entrypoint": "main", "templates": [main, say]}}
        nodes = workflow(simulate(manifest).machine)["status"]["nodes"].values()
        (node,) = (one for one in nodes if one["type"] == "Pod")
        found: str = node["inputs"]["parameters"][0]["value"]
        return found

    assert uid(name="one", uid="u-1") == "u-1"
    assert str(UUID(uid(name="one"))) == uid(name="one") != uid(name="two")


def pods_of(pods: Json) -> Callable[[events.StartPod], Pod]:
    """The pods by the names of their nodes, without the name of the workflow; `*` matches anything."""
    patterns = [(re.compile(re.escape(name).replace(r"\*", ".*")), pod) for name, pod in pods.items()]

    def world(action: events.StartPod) -> Pod:
        for pattern, pod in patterns:
            if pattern.fullmatch(action.name) or pattern.fullmatch(action.name.partition(".")[2]):
                return pod_of(pod)
        return pod_of({})

    return world


def pod_of(pod: Json) -> Pod:
    phase = pod.get("phase", "Succeeded")
    code = pod.get("code", 0 if phase == "Succeeded" else 1)
    outputs: Json = {"exitCode": str(code)}
    if "parameters" in pod:
        outputs["parameters"] = [
            {"name": name, "value": value} if isinstance(value, str) else {"name": name, **value}
            for name, value in pod["parameters"].items()
        ]
    if "artifacts" in pod:
        outputs["artifacts"] = [{"name": name, **place} for name, place in pod["artifacts"].items()]
    if "result" in pod:
        outputs["result"] = pod["result"]
    message = pod.get("message", "" if phase == "Succeeded" else f"main: Error (exit code {code})")
    containers = (
        {name: (each, "") for name, each in pod["containers"].items()} if "containers" in pod else None
    )
    takes = pod.get("takes", 1)
    return Pod(
        events.Outcome(phase, message, outputs, containers),
        FOR_EVER if takes == "for ever" else takes,
        pod.get("pends", 0),
        pod.get("ip", ""),
        pod.get("grace", 0),
    )


def event_of(run: str, event: Json) -> events.Event:
    now = START + event["at"]
    if "stop" in event:
        return events.ShutDown(now, event["stop"])
    return events.Resumed(now, node_id(run, event["resume"]), event.get("supplied", {}))


def cache_of(caches: Json) -> Cache:
    return Cache(
        {
            name: {
                key: Entry("earlier", entry["outputs"], START - entry.get("age", 0))
                for key, entry in entries.items()
            }
            for name, entries in caches.items()
        }
    )


def drawn(simulation: Simulation, world: Json) -> str:
    """The end of a run as text: its phase, the tree of its nodes, and its outputs."""
    machine = simulation.machine
    ended = simulation.ended
    lines = ["stalled" if ended is None else f"{ended.phase}{f': {ended.message}' if ended.message else ''}"]
    below: dict[str, list[Node]] = {}
    for node in machine.nodes.values():
        below.setdefault(_above(node.name, machine.nodes), []).append(node)
    waiting = [(1, node) for node in reversed(below.get("", []))]
    while waiting:
        depth, node = waiting.pop()
        lines.extend("  " * depth + line for line in _lines(node, machine.started))
        waiting.extend((depth + 1, child) for child in reversed(below.get(node.name, [])))
    for kind, values in machine.run.outputs.items():
        lines.extend(f"hands on {kind[:-1]} {one['name']} = {_place(one)}" for one in values)
    for cache, key, entry in machine.run.cache.added:
        lines.append(f"keeps {cache} {key} = {entry.outputs.get('parameters')}")
    for at, stop in simulation.stopped:
        lines.append(
            f"stops {machine.run.by_id[stop.node].display} at {at:g}{': ' * bool(stop.message)}{stop.message}"
        )
    for node in machine.nodes.values() if world.get("children") else ():
        lines.extend(f"{node.name} -> {child.name}" for child in node.children.values())
    for field in world.get("shows", []):
        lines.extend(f"{pod.name} {field}: {_field(pod, field)!r}" for pod in simulation.pods.values())
    return "".join(line.replace("\n", "\\n") + "\n" for line in lines)


def _above(name: str, names: Container[str]) -> str:
    """The longest of the names that is a parent of this one, or an empty text."""
    ends = [place for place in range(len(name) - 1, 0, -1) if name[place] in ".([" and name[:place] in names]
    return name[: ends[0]] if ends else ""


def _lines(node: Node, began: float) -> list[str]:
    end = "" if node.finished is None else f"{node.finished - began:g}"
    flags = "".join(f" {word}" for word, on in (("hook", node.hooked), ("daemon", node.daemoned)) if on)
    message = f": {node.message}" if node.message else ""
    found = [f"{node.display} {node.type}{flags} {node.started - began:g}-{end} {node.phase}{message}"]
    for side, of in (("<", node.inputs), (">", node.outputs)):
        for kind, values in (of or {}).items():
            if kind == "exitCode":
                found.extend([f"  {side} exit code {values}"] if values != "0" else [])
            elif kind == "result":
                found.append(f"  {side} result {values!r}")
            else:
                found.extend(f"  {side} {one['name']} = {_place(one)}" for one in values)
    if node.memo:
        found.append(f"  {'hit' if node.memo['hit'] else 'miss'} {node.memo['cacheName']} {node.memo['key']}")
    return found


def _place(one: Json) -> str:
    if "value" in one:
        return repr(one["value"])
    return repr({name: value for name, value in one.items() if name != "name"})


def _field(pod: events.StartPod, path: str) -> Any:
    at: Any = {"template": pod.template, "volumes": pod.volumes, "patches": pod.patches, "pod": pod.pod}
    for part in path.split("."):
        at = at.get(part)
    return at
