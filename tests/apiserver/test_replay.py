"""Each recorded history comes to life in the server, and is read back as it was recorded."""

from __future__ import annotations

import copy
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from flowdsl.runtime.local.controller.names import node_id
from tests.apiserver.client import PODS, WORKFLOWS, Refused
from tests.apiserver.history import Event, History, histories, load
from tests.apiserver.kubelet import state
from tests.apiserver.replay import Replay, changes, own
from tests.apiserver.server import ApiServer
from tests.corpus import corpus

Object = dict[str, Any]

HISTORIES = histories()
each_history = pytest.mark.parametrize("path", HISTORIES, ids=[path.stem for path in HISTORIES])


def recording(name: str, run: str | None = None) -> History:
    return load(corpus("recordings", "histories", f"{name}.jsonl"), run)


def plain(found: Object) -> Object:
    """An object as it may be compared: without what the server sets."""
    kept = copy.deepcopy(own(found))
    for owner in kept["metadata"].get("ownerReferences", ()):
        owner["uid"] = ""
    for container in [*kept["spec"].get("containers", ()), *kept["spec"].get("initContainers", ())]:
        for variable in container.get("env", ()):
            if variable["name"] == "ARGO_WORKFLOW_UID":
                variable["value"] = ""
    return kept


def passing(found: Object) -> Object:
    """A state that is not the last: when the scheduler had found a node is set right by the next one."""
    kept = plain(found)
    for condition in kept.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodScheduled":
            del condition["lastTransitionTime"]
    return kept


def there(server: ApiServer, path: str) -> dict[str, Object]:
    listed = server.admin.get(path)
    kinds = {"apiVersion": listed["apiVersion"], "kind": listed["kind"].removesuffix("List")}
    return {each["metadata"]["name"]: kinds | each for each in listed["items"]}


def compared(found: dict[str, Object]) -> dict[str, Object]:
    return {name: plain(each) for name, each in found.items()}


@each_history
def test_objects_end_as_recorded(server: ApiServer, namespace: str, path: Path) -> None:
    history = load(path)
    Replay(server, history, namespace).run()
    assert compared(there(server, WORKFLOWS.format(namespace))) == compared(history.last("wf"))
    assert compared(there(server, PODS.format(namespace))) == compared(history.last("pods"))


@each_history
def test_logs_are_those_recorded_byte_for_byte(server: ApiServer, namespace: str, path: Path) -> None:
    history = load(path)
    Replay(server, history, namespace).run()
    for (pod, container), text in history.logs.items():
        log = f"{PODS.format(namespace)}/{pod}/log"
        assert server.admin.raw(log, {"container": container, "timestamps": "true"}) == text
        bare = b"".join(line.partition(b" ")[2] for line in text.splitlines(keepends=True))
        assert server.admin.raw(log, {"container": container}) == bare


@each_history
def test_watch_sees_each_recorded_state(server: ApiServer, namespace: str, path: Path) -> None:
    history = load(path)
    paths = {"wf": WORKFLOWS.format(namespace), "pods": PODS.format(namespace)}
    with ThreadPoolExecutor(2) as pool:
        seen: dict[str, Future[list[Object]]] = {}
        for kind, place in paths.items():
            count = sum(event.kind == kind for event in history.events)
            watch = server.admin.watch(place, newest(server, place), timeoutSeconds=60)
            seen[kind] = pool.submit(list, islice(watch, count))
        Replay(server, history, namespace).run()
    for kind in paths:
        recorded = [(event.type, passing(event.object)) for event in history.events if event.kind == kind]
        assert [(event["type"], passing(event["object"])) for event in seen[kind].result()] == recorded


def newest(server: ApiServer, path: str) -> str:
    return str(server.admin.get(path)["metadata"]["resourceVersion"])


def test_pods_belong_to_the_workflow_that_the_server_has(server: ApiServer, namespace: str) -> None:
    history = recording("approve-then-go")
    Replay(server, history, namespace).run()
    [workflow] = there(server, WORKFLOWS.format(namespace)).values()
    owners = [pod["metadata"]["ownerReferences"] for pod in there(server, PODS.format(namespace)).values()]
    assert [owner["uid"] for [owner] in owners] == [workflow["metadata"]["uid"]] * 2
    assert workflow["metadata"]["uid"] != history.events[0].object["metadata"]["uid"]


def test_history_goes_by_another_name(server: ApiServer, namespace: str) -> None:
    history = recording("retry-then-succeed", "another")
    Replay(server, history, namespace).run()
    [workflow] = there(server, WORKFLOWS.format(namespace)).values()
    nodes = workflow["status"]["nodes"]
    assert workflow["metadata"]["name"] == "another"
    assert all(node["id"] == name == node_id("another", node["name"]) for name, node in nodes.items())
    pods = {name.rpartition("-")[2] for name in there(server, PODS.format(namespace))}
    assert pods == {name.rpartition("-")[2] for name, node in nodes.items() if node["type"] == "Pod"}
    assert {pod for pod, _ in history.logs} == set(there(server, PODS.format(namespace)))


def test_submitted_workflow_comes_to_life_and_keeps_what_others_wrote(
    server: ApiServer, namespace: str
) -> None:
    history = recording("stopped-runs-exit-handler", "mine")
    path = f"{WORKFLOWS.format(namespace)}/mine"
    manifest = copy.deepcopy(history.manifest)
    manifest["metadata"] |= {"labels": {"team": "vision"}}
    submitted = server.admin.create(WORKFLOWS.format(namespace), manifest)
    replay = Replay(server, history, namespace)
    replay.until(lambda event: event.kind == "wf" and "status" in event.object)
    server.admin.patch(path, {"metadata": {"annotations": {"note": "mine"}}})
    replay.run()
    found = server.admin.get(path)
    assert found["metadata"]["uid"] == submitted["metadata"]["uid"]
    assert found["metadata"]["labels"]["team"] == "vision"
    assert found["metadata"]["annotations"]["note"] == "mine"
    assert found["status"]["phase"] == "Failed"


def test_restart_in_the_middle_loses_nothing(server: ApiServer, namespace: str) -> None:
    history = recording("steps-fail-and-exit")
    replay = Replay(server, history, namespace)
    for _ in range(len(history.events) // 2):
        replay.step()
    server.restart("apiserver")
    replay.run()
    assert compared(there(server, WORKFLOWS.format(namespace))) == compared(history.last("wf"))
    assert compared(there(server, PODS.format(namespace))) == compared(history.last("pods"))


def test_log_is_followed_to_the_end_of_the_container(server: ApiServer, namespace: str) -> None:
    history = recording("steps-fail-and-exit")
    (pod, container), text = next((key, text) for key, text in history.logs.items() if "-ok-" in key[0])
    replay = Replay(server, history, namespace)
    replay.until(lambda event: event.name == pod and runs(event, container))
    options = {"container": container, "timestamps": "true", "follow": "true"}
    with ThreadPoolExecutor(1) as pool:
        followed = pool.submit(server.admin.raw, f"{PODS.format(namespace)}/{pod}/log", options)
        replay.run(speed=20)
        assert followed.result(60) == text


def runs(event: Event, container: str) -> bool:
    return "running" in (state(event.object, container) or {}).get("state", {})


def test_pod_without_a_node_has_an_empty_log(server: ApiServer, namespace: str) -> None:
    history = recording("gpu-pending-then-terminated")
    replay = Replay(server, history, namespace)
    replay.until(lambda event: event.kind == "pods" and event.type == "MODIFIED")
    log = f"{PODS.format(namespace)}/{history.run}/log"
    assert server.admin.raw(log, {"container": "main"}) == b""
    replay.run()
    with pytest.raises(Refused) as caught:
        server.admin.raw(log, {"container": "main"})
    assert caught.value.code == 404


def test_container_that_waits_has_no_log(server: ApiServer, namespace: str) -> None:
    replay = Replay(server, recording("approve-then-go"), namespace)
    event = replay.until(lambda event: event.kind == "pods" and state(event.object, "main") is not None)
    with pytest.raises(Refused) as caught:
        server.admin.raw(f"{PODS.format(namespace)}/{event.name}/log", {"container": "main"})
    assert caught.value.code == 400
    assert caught.value.status["message"] == (
        f'container "main" in pod "{event.name}" is waiting to start: PodInitializing'
    )


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1, "b": 2}, {"a": 1}, {"b": None}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [1, 2]}),
        ({}, {"a": {}}, {"a": {}}),
        ({"a": 1}, {"a": True}, {"a": True}),
    ],
)
def test_changes_are_a_merge_patch(before: Object, after: Object, patch: Object) -> None:
    found = changes(before, after)
    assert found == patch
    assert repr(found) == repr(patch)
