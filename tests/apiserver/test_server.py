"""The server itself: real, restarted, compacted, with rights, and gone afterwards."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.build import version
from tests.apiserver.client import WORKFLOWS, Client, Refused
from tests.apiserver.server import PARTS, ApiServer, Part, until

ROOT = Path(__file__).resolve().parents[2]
Object = dict[str, Any]

READ: Object = {"apiGroups": ["argoproj.io"], "resources": ["workflows"], "verbs": ["list", "get"]}


def workflow(name: str, **spec: object) -> Object:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": name},
        "spec": {
            "entrypoint": "main",
            "templates": [{"name": "main", "container": {"image": "busybox"}}],
            **spec,
        },
    }


def names(client: Client, namespace: str) -> list[str]:
    return [each["metadata"]["name"] for each in client.get(WORKFLOWS.format(namespace))["items"]]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_server_is_the_version_that_was_asked_for(server: ApiServer) -> None:
    assert server.admin.get("/version")["gitVersion"] == version("kube-apiserver")


def test_server_has_the_definitions_of_argo(server: ApiServer) -> None:
    found = server.admin.get("/apis/argoproj.io/v1alpha1")
    assert {each["kind"] for each in found["resources"]} == {
        "ClusterWorkflowTemplate",
        "CronWorkflow",
        "Workflow",
        "WorkflowTaskResult",
        "WorkflowTemplate",
    }


def test_server_refuses_unknown_fields_when_asked_to_be_strict(server: ApiServer, namespace: str) -> None:
    path = WORKFLOWS.format(namespace)
    with pytest.raises(Refused, match=r'unknown field "spec\.colour"') as caught:
        server.admin.call("POST", path, workflow("odd", colour="red"), query={"fieldValidation": "Strict"})
    assert caught.value.code == 400


def test_server_refuses_what_the_definitions_forbid(server: ApiServer, namespace: str) -> None:
    with pytest.raises(Refused) as caught:
        server.admin.create(WORKFLOWS.format(namespace), workflow("odd", parallelism="many"))
    assert caught.value.code == 422


def test_user_without_rights_is_refused(server: ApiServer, namespace: str) -> None:
    with pytest.raises(Refused) as caught:
        server.client("limited").get(WORKFLOWS.format(namespace))
    assert caught.value.code == 403
    assert caught.value.status["message"] == (
        'workflows.argoproj.io is forbidden: User "limited" cannot list resource "workflows" in API group '
        f'"argoproj.io" in the namespace "{namespace}"'
    )


def test_user_may_do_what_a_role_says_and_no_more(server: ApiServer, namespace: str) -> None:
    path = WORKFLOWS.format(namespace)
    server.admin.create(path, workflow("one"))
    server.allow("limited", namespace, [READ])
    limited = server.client("limited")
    assert names(limited, namespace) == ["one"]
    with pytest.raises(Refused) as caught:
        limited.create(path, workflow("two"))
    assert caught.value.code == 403
    assert names(server.admin, namespace) == ["one"]


def test_unknown_token_is_refused(server: ApiServer) -> None:
    with pytest.raises(Refused) as caught:
        Client(server.url, server.authority, "wrong").get("/api")
    assert caught.value.code == 401


def test_kubeconfig_leads_to_the_server(server: ApiServer) -> None:
    config = json.loads(server.kubeconfig("limited", "somewhere").read_text())
    cluster = config["clusters"][0]["cluster"]
    client = Client(
        cluster["server"], Path(cluster["certificate-authority"]), config["users"][0]["user"]["token"]
    )
    review = client.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert review["status"]["userInfo"]["username"] == "limited"
    assert config["contexts"][0]["context"]["namespace"] == "somewhere"


@pytest.mark.parametrize("parts", [["apiserver"], ["etcd"], ["etcd", "apiserver"]])
def test_restart_keeps_what_was_created(server: ApiServer, namespace: str, parts: list[Part]) -> None:
    made = server.admin.create(WORKFLOWS.format(namespace), workflow("kept"))
    for part in parts:
        server.kill(part)
    for part in parts:
        server.revive(part, wait=False)
    server.wait()
    found = server.admin.get(f"{WORKFLOWS.format(namespace)}/kept")
    assert found == made
    server.admin.delete(f"{WORKFLOWS.format(namespace)}/kept")


def test_killed_server_ends_a_watch_and_is_out_of_reach(server: ApiServer, namespace: str) -> None:
    path = WORKFLOWS.format(namespace)
    newest = server.admin.get(path)["metadata"]["resourceVersion"]
    with server.admin.open(path, {"watch": "1", "resourceVersion": newest}) as stream:
        server.kill("apiserver")
        with pytest.raises((OSError, http.client.HTTPException)):
            stream.read()
    with pytest.raises(ConnectionRefusedError):
        server.admin.get(path)
    server.revive("apiserver")
    assert server.admin.get(path)["items"] == []


def test_paused_server_answers_late(server: ApiServer, namespace: str) -> None:
    path = WORKFLOWS.format(namespace)
    with server.paused("apiserver"), pytest.raises(TimeoutError):
        server.client("admin", seconds=0.2).get(path)
    assert server.admin.get(path)["items"] == []


def test_watch_sees_changes_as_they_happen(server: ApiServer, namespace: str) -> None:
    path = WORKFLOWS.format(namespace)
    newest = server.admin.get(path)["metadata"]["resourceVersion"]
    watch = server.admin.watch(path, newest)
    changes: list[tuple[str, Callable[[], Object]]] = [
        ("ADDED", lambda: server.admin.create(path, workflow("seen"))),
        ("MODIFIED", lambda: server.admin.patch(f"{path}/seen", {"spec": {"suspend": True}})),
        ("DELETED", lambda: server.admin.delete(f"{path}/seen")),
    ]
    with ThreadPoolExecutor(1) as pool:
        for kind, change in changes:
            event = pool.submit(next, watch)
            change()
            assert event.result(30)["type"] == kind
    watch.close()


def test_watch_from_a_forgotten_version_is_told_so(server: ApiServer, namespace: str) -> None:
    path = WORKFLOWS.format(namespace)
    old = server.admin.create(path, workflow("old"))["metadata"]["resourceVersion"]
    server.admin.patch(f"{path}/old", {"spec": {"suspend": True}})
    assert server.compact() > int(old)
    server.restart("apiserver")
    events = list(server.admin.watch(path, old, timeoutSeconds=5))
    assert [(event["type"], event["object"]["code"]) for event in events] == [("ERROR", 410)]


def test_list_that_is_continued_after_compaction_is_told_so(server: ApiServer, namespace: str) -> None:
    path = WORKFLOWS.format(namespace)
    for number in range(3):
        server.admin.create(path, workflow(f"page-{number}"))
    page = server.admin.get(path, {"limit": 2})
    server.admin.patch(f"{path}/page-0", {"spec": {"suspend": True}})
    server.compact()
    server.restart("apiserver")
    with pytest.raises(Refused) as caught:
        server.admin.get(path, {"limit": 2, "continue": page["metadata"]["continue"]})
    assert caught.value.code == 410
    assert caught.value.status["reason"] == "Expired"


def test_watch_ends_by_itself_when_its_time_is_up() -> None:
    with ApiServer(min_request_timeout=1) as short:
        path = "/api/v1/namespaces/default/configmaps"
        newest = short.admin.get(path)["metadata"]["resourceVersion"]
        assert list(short.admin.watch(path, newest)) == []


@pytest.mark.parametrize("victim", ["tests", "keeper"])
def test_nothing_outlives_a_process_that_is_killed(victim: str, tmp_path: Path) -> None:
    program = (
        "import time; from tests.apiserver.server import ApiServer; server = ApiServer().start();"
        "print(*server.parts.pids.values(), server.parts.keeper.pid, server.folder, flush=True);"
        "time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as tests:
        assert tests.stdout is not None
        *parts, keeper, folder = tests.stdout.readline().split()
        pids = [int(pid) for pid in parts]
        assert len(pids) == len(PARTS)
        assert all(alive(pid) for pid in pids)
        os.kill(tests.pid if victim == "tests" else int(keeper), signal.SIGKILL)
        gone = until(lambda: not any(alive(pid) for pid in pids), 20)
        tests.kill()
    assert gone
    if victim == "tests":
        assert until(lambda: not Path(folder).exists(), 20)
