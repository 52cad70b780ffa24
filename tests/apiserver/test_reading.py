"""`get` and `list` against a real API server, into which recorded runs come to life."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.client import PODS, WORKFLOWS
from tests.apiserver.history import Event, load
from tests.apiserver.replay import Replay
from tests.apiserver.server import NODE, ApiServer
from tests.commands import Result, in_process
from tests.corpus import corpus

Json = dict[str, Any]


Flowdsl = Callable[..., Result]


@pytest.fixture
def flowdsl(
    server: ApiServer,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Flowdsl:
    """A command in an empty folder, with the settings of a user of the server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)

    command = in_process(capsys)

    def made(*arguments: str, user: str = "admin") -> Result:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(user, namespace)))
        return command(*arguments)

    return made


def replay(server: ApiServer, namespace: str, name: str, run: str | None = None) -> Replay:
    return Replay(server, load(corpus("recordings", "histories", f"{name}.jsonl"), run), namespace)


def unschedulable(event: Event) -> bool:
    conditions = event.object.get("status", {}).get("conditions") or ()
    return event.kind == "pods" and any(one.get("reason") == "Unschedulable" for one in conditions)


def test_a_pod_that_finds_no_gpu_says_so(server: ApiServer, namespace: str, flowdsl: Flowdsl) -> None:
    history = replay(server, namespace, "gpu-pending-then-terminated")
    pod = history.until(unschedulable).object["metadata"]["name"]
    history.until(lambda event: event.kind == "wf" and bool(event.object.get("status", {}).get("nodes")))
    code, out, err = flowdsl("get", "@latest")
    assert (code, err) == (0, "")
    assert re.search(r"^Status: +Running$", out, re.MULTILINE)
    assert re.search(r"^GPUs: +1 requested now$", out, re.MULTILINE)
    (row,) = (one for one in out.splitlines() if one.startswith("main "))
    assert re.search(r"· Pending +\w+( \w+)? +1 +Unschedulable: 0/1 nodes are available: 1 node", row)
    assert [one.split()[:3] for one in flowdsl("list", "--running").out.splitlines()[1:]] == [
        [history.history.run, "●", "Running"]
    ]
    assert flowdsl("list", "--completed").out == ""

    server.admin.create(
        f"/api/v1/namespaces/{namespace}/events",
        {
            "metadata": {"name": "noted"},
            "involvedObject": {"kind": "Pod", "name": pod, "namespace": namespace},
            "type": "Warning",
            "reason": "FailedScheduling",
            "message": "no node has\x1b[31m it",
            "lastTimestamp": "2026-11-21T12:04:00Z",
        },
    )
    out = flowdsl("get", history.history.run, "--events").out
    assert "Warning  FailedScheduling" in out
    assert "    no node has\\x1b[31m it\n" in out

    history.run()
    out = flowdsl("get", history.history.run).out
    assert re.search(r"^Status: +Failed \(Terminated\)$", out, re.MULTILINE)
    assert "GPU-hours" not in out
    assert "workflow shutdown with strategy" in out


def test_runs_are_listed_by_labels_status_and_number(
    server: ApiServer, namespace: str, flowdsl: Flowdsl
) -> None:
    for name in ("fan-out-12", "steps-fail-and-exit", "retry-then-succeed"):
        replay(server, namespace, name, f"{namespace}-{name}").run()
    failed = f"{namespace}-steps-fail-and-exit"
    server.admin.patch(
        f"{WORKFLOWS.format(namespace)}/{failed}", {"metadata": {"labels": {"team": "vision"}}}
    )

    def names(*options: str) -> list[str]:
        code, out, _ = flowdsl("list", "-o", "name", *options)
        assert code == 0
        return out.split()

    assert len(names()) == 3
    assert names("--status", "Failed") == [failed]
    assert names("-l", "team=vision") == [failed]
    assert names("-l", "team!=vision", "--completed") == [one for one in names() if one != failed]
    assert len(names("--limit", "2")) == 2
    assert set(names()) <= set(names("-A"))
    assert names("--since", "1h") == names()
    assert flowdsl("list", "-l", "a=b=c").code == 2
    rows = json.loads(flowdsl("list", "-o", "json").out)
    assert {one["name"]: one["phase"] for one in rows}[failed] == "Failed"
    out = flowdsl("get", f"{namespace}-fan-out-12").out
    assert "12 rounds" in out
    assert len(re.findall(r"^  \(\d+\)", out, re.MULTILINE)) == 12
    out = flowdsl("get", f"{namespace}-retry-then-succeed").out
    assert out.count("  attempt ") == 2
    found = json.loads(flowdsl("get", failed, "-o", "json").out)
    there = server.admin.get(f"{WORKFLOWS.format(namespace)}/{failed}")
    assert found["status"] == there["status"]


def test_nodes_that_the_controller_packed(server: ApiServer, namespace: str, flowdsl: Flowdsl) -> None:
    history = replay(server, namespace, "branches")
    history.run()
    path = f"{WORKFLOWS.format(namespace)}/{history.history.run}"
    before = flowdsl("get", history.history.run, "-o", "wide").out
    nodes = server.admin.get(path)["status"]["nodes"]

    def pack(packed: str | None, offloaded: str | None = None) -> Result:
        status = {"nodes": None, "compressedNodes": packed, "offloadNodeStatusVersion": offloaded}
        server.admin.patch(path, {"status": status})
        return flowdsl("get", history.history.run, "-o", "wide")

    data = gzip.compress(json.dumps(nodes).encode())
    code, out, _ = pack(base64.b64encode(data).decode())
    assert code == 0
    assert without_ages(out) == without_ages(before)
    assert json.loads(flowdsl("get", history.history.run, "-o", "json").out)["status"]["nodes"] == nodes
    code, out, err = pack(base64.b64encode(data[:-20]).decode())
    assert code == 0
    assert "Status:" in out
    assert "STEP" not in out
    assert f"note: the nodes of run `{history.history.run}` cannot be read: they are cut short\n" in err
    code, out, err = pack(None, "fnv:1")
    assert code == 0
    assert "Status:" in out
    assert "are in the controller's database" in err
    server.admin.patch(path, {"status": {"phase": "Running"}})
    assert json.loads(flowdsl("list", "-o", "json").out)[0]["gpus"] is None
    assert "are in the controller's database" in flowdsl("list").out


def without_ages(text: str) -> str:
    return re.sub(r"\(\d+\w ago\)", "", text)


def test_who_may_read_workflows_only(server: ApiServer, namespace: str, flowdsl: Flowdsl) -> None:
    history = replay(server, namespace, "fan-out-12")
    history.run()
    name = history.history.run
    assert flowdsl("get", name, user="limited").code == 3
    server.allow(
        "limited",
        namespace,
        [{"apiGroups": ["argoproj.io"], "resources": ["workflows"], "verbs": ["get", "list"]}],
    )
    code, out, err = flowdsl("get", name, user="limited")
    assert code == 0
    assert err.startswith(f"note: cannot list pods in namespace `{namespace}`: ")
    assert f"kubectl auth can-i list pods -n {namespace}" in err
    assert without_ages(out) == without_ages(flowdsl("get", name).out)
    assert flowdsl("list", user="limited").code == 0
    assert flowdsl("list", "-A", user="limited").code == 3


def test_a_run_that_is_not_there(flowdsl: Flowdsl, namespace: str) -> None:
    code, out, err = flowdsl("get", "nobody")
    assert (code, out) == (2, "")
    assert err.startswith(f"flowdsl: there is no run `nobody` in namespace `{namespace}` of cluster `test`")
    assert flowdsl("get", "@latest").code == 2
    nothing = flowdsl("list")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err == f"there is no run in namespace `{namespace}` of cluster `test`\n"


def test_the_card_of_the_node(server: ApiServer, namespace: str, flowdsl: Flowdsl) -> None:
    replayed = replay(server, namespace, "fan-out-12")
    replayed.run()
    server.admin.patch(f"/api/v1/nodes/{NODE}", {"metadata": {"labels": {"nvidia.com/gpu.product": "H100"}}})
    path = f"{WORKFLOWS.format(namespace)}/{replayed.history.run}"
    templates = server.admin.get(path)["spec"]["templates"]
    for one in templates:
        for kind in ("container", "script"):
            if kind in one:
                one[kind]["resources"] = {"limits": {"nvidia.com/gpu": 2}}
    server.admin.patch(path, {"spec": {"templates": templates}})
    for pod in server.admin.get(PODS.format(namespace))["items"]:  # what is left to go by are the templates
        server.admin.delete(f"{PODS.format(namespace)}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})
    out = flowdsl("get", replayed.history.run).out
    server.admin.patch(f"/api/v1/nodes/{NODE}", {"metadata": {"labels": {"nvidia.com/gpu.product": None}}})
    assert len(re.findall(rf" 2  {NODE} \(H100\)", out)) == 13  # and the step that joins them
    assert re.search(r"^GPU-hours: +0\.\d\d$", out, re.MULTILINE)
