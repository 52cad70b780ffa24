"""Fetching from a recorded run in the API server, whose objects are in a store on loopback; and two gigabytes."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.broken import behind
from tests.apiserver.history import load
from tests.apiserver.proofs import SHORT
from tests.apiserver.replay import Replay
from tests.apiserver.server import ApiServer
from tests.artifacts.objects import Objects
from tests.artifacts.runs import there, told
from tests.artifacts.test_fetch import tgz
from tests.artifacts.test_large import arrives
from tests.cluster.faults import FAULTS, Fault, until_it_passes
from tests.corpus import corpus

Object = dict[str, Any]


@pytest.fixture
def run(
    server: ApiServer, namespace: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, objects: Objects
) -> str:
    """The recorded run with two artifacts and a parameter, at its end; its name."""
    history = load(corpus("recordings", "histories", "artifacts-and-parameters.jsonl"))
    Replay(server, history, namespace).run()
    [workflow] = history.last("wf").values()
    for node in workflow["status"]["nodes"].values():
        for artifact in node.get("outputs", {}).get("artifacts", ()):
            data = "üñïcode\n".encode()
            if artifact["name"] == "model":
                data = tgz({"model/weights/a.bin": bytes(range(256))})
            objects.put(artifact["s3"]["key"], data)
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig()))
    monkeypatch.chdir(tmp_path)
    return history.run


def secret(server: ApiServer, namespace: str) -> None:
    data = {key: base64.b64encode(key.encode()).decode() for key in ("accessKey", "secretKey")}
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s3cred"}, "data": data}
    server.admin.create(f"/api/v1/namespaces/{namespace}/secrets", body)


def fetch(run: str, namespace: str, objects: Objects, *more: str) -> int:
    from flowdsl.cli.app import run as command

    return command(["fetch", run, "-n", namespace, "--endpoint", f"http://{objects.endpoint}", *more])


def test_recorded_run(server: ApiServer, namespace: str, run: str, objects: Objects, tmp_path: Path) -> None:
    secret(server, namespace)
    assert fetch(run, namespace, objects) == 0
    assert there(tmp_path / run) == {
        "make/model/weights/a.bin": bytes(range(256)),
        "make/notes": "üñïcode\n".encode(),
    }
    found = told(tmp_path / run)
    [make] = [one for one in found["steps"] if one["step"] == "make"]
    assert make["outputs"] == {"acc": "0.93", "exitCode": "0"}
    pods = server.admin.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    assert make["pod"] in {pod["metadata"]["name"] for pod in pods}
    assert [one["source"] for one in found["outputs"]] == [
        f"s3://argo/{run}/{run}-make-323670352/model.tgz",
        f"s3://argo/{run}/notes.txt",
    ]
    objects.asked.clear()
    assert fetch(run, namespace, objects) == 0
    assert objects.gets() == []


def test_secret_that_is_not_there(
    namespace: str, run: str, objects: Objects, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch(run, namespace, objects) == 3
    said = capsys.readouterr().err
    assert f"cannot get Secret `s3cred` in namespace `{namespace}`" in said
    assert "--own-credentials" in said


def test_secret_that_may_not_be_read(
    server: ApiServer,
    namespace: str,
    run: str,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    secret(server, namespace)
    server.allow(
        "limited",
        namespace,
        [{"apiGroups": ["argoproj.io"], "resources": ["workflows"], "verbs": ["get"]}],
    )
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig("limited")))
    assert fetch(run, namespace, objects) == 3
    said = capsys.readouterr().err
    assert f"cannot get Secret `s3cred` in namespace `{namespace}`" in said
    assert "forbidden" in said
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine, too")
    assert fetch(run, namespace, objects, "--own-credentials") == 0


def test_reader_pod_is_what_the_server_takes_and_is_deleted(
    server: ApiServer,
    namespace: str,
    run: str,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from flowdsl.runtime.artifacts import reader

    monkeypatch.setattr(reader, "PENDING", 1.0)
    path = f"/apis/argoproj.io/v1alpha1/namespaces/{namespace}/workflows/{run}"
    nodes: Object = server.admin.get(path)["status"]["nodes"]
    name = next(key for key, node in nodes.items() if node["displayName"] == "make")
    value = {"name": "kept", "value": "/flowdsl/volumes/data/runs/kept"}
    server.admin.patch(
        path,
        {
            "spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]},
            "status": {"nodes": {name: {"outputs": {"parameters": [value]}}}},
        },
    )
    assert fetch(run, namespace, objects, "make.kept") == 3
    said = capsys.readouterr().err
    assert "did not start within 1 s" in said
    pods = server.admin.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    assert [one for one in pods if one["metadata"]["name"].startswith("flowdsl-fetch-")] == []


def test_two_gigabytes_arrive_in_little_memory(objects: Objects, tmp_path: Path) -> None:
    arrives(objects, tmp_path, 1 << 28 if SHORT else 2 << 30)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_request_leaves_no_file_that_only_looks_complete(
    server: ApiServer,
    namespace: str,
    run: str,
    objects: Objects,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Fault,
) -> None:
    secret(server, namespace)
    with behind(server, tmp_path / "kubeconfig", late=1.3) as proxy:
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))

        def attempt(number: int) -> None:
            assert fetch(run, namespace, objects, "-o", f"to-{number}", "--request-timeout", "1") == 0
            assert set(there(tmp_path / f"to-{number}")) == {"make/model/weights/a.bin", "make/notes"}

        assert until_it_passes(proxy, fault, attempt) >= 3
