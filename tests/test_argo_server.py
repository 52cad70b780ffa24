"""The way through an Argo server, against a small one that speaks its endpoints."""

from __future__ import annotations

import copy
import json
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from flowdsl.cli.app import run
from flowdsl.runtime.cluster.argo_server import ArgoServer
from flowdsl.runtime.cluster.argo_transport import Server, server_of
from flowdsl.runtime.cluster.follow import follow
from flowdsl.runtime.cluster.kinds import NODE, POD, TEMPLATE, WORKFLOW
from flowdsl.runtime.cluster.kubernetes import SUBMIT_ID
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.seam import Excerpt
from flowdsl.runtime.cluster.trouble import (
    Expired,
    Misconfigured,
    Refusal,
    Uncertain,
    Unfit,
    Unreachable,
    Unsupported,
)
from flowdsl.runtime.local.controller.names import pod_name
from tests.loopback import Loopback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flowdsl.runtime.cluster.seam import Kind, Verb

Object = dict[str, Any]
TOKEN = "Bearer secret"
HTTP_OF = {3: 400, 5: 404, 6: 409, 7: 403, 8: 429, 13: 500, 16: 401}


class Denied(Exception):
    """An error response of the server, with its gRPC code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Standing:
    """An Argo server that keeps objects in memory. `lose`: how many responses to lose after the change."""

    def __init__(self) -> None:
        self.workflows: dict[str, Object] = {}
        self.templates: dict[str, Object] = {}
        self.asked: list[tuple[str, str, Object, Object]] = []
        self.events: list[Object] = []
        self.lines: list[str] = []
        self.lose = 0
        self._version = 1
        standing = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def _answer(self) -> None:
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                length = int(self.headers.get("Content-Length") or 0)
                body: Object = json.loads(self.rfile.read(length)) if length else {}
                path = [unquote(one) for one in parts.path.strip("/").split("/")]
                standing.asked.append((self.command, parts.path, query, body))
                try:
                    if self.headers.get("Authorization") != TOKEN:
                        raise Denied(16, "token not valid. see https://argo-workflows.readthedocs.io/")
                    text = standing.answer(self.command, path, query, body)
                except Denied as denied:
                    text = json.dumps({"code": denied.code, "message": str(denied), "details": []})
                    self._send(HTTP_OF[denied.code], text)
                    return
                if standing.lose and self.command != "GET":
                    standing.lose -= 1
                    self.close_connection = True
                    return
                self._send(200, text)

            def _send(self, status: int, text: str) -> None:
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 -- the names of http.server

        listener = Loopback(Handler)
        self.url, self.close = listener.url, listener.close

    # --- what it does ----------------------------------------------------------------------------------

    def answer(self, method: str, path: list[str], query: Object, body: Object) -> str:
        assert path[:2] == ["api", "v1"], path
        match method, path[2:]:
            case "GET", ["workflow-events", _]:
                return "".join(json.dumps(event) + "\n" for event in self.events)
            case "GET", ["workflows", _, name, "log"]:
                self._found(name)
                results = ({"result": {"content": line, "podName": query["podName"]}} for line in self.lines)
                return "".join(json.dumps(one) + "\n" for one in results)
            case "GET", ["workflows", _]:
                wanted = query.get("listOptions.labelSelector", "")
                key, _, value = wanted.partition("=")
                items = [
                    one
                    for one in self.workflows.values()
                    if not wanted or one["metadata"].get("labels", {}).get(key) == value
                ]
                return json.dumps({"metadata": {"resourceVersion": "7"}, "items": items or None})
            case "GET", ["workflows", _, name]:
                return json.dumps(self._found(name))
            case "POST", ["workflows", namespace]:
                return self._create(
                    self.workflows, namespace, body["workflow"], dry=bool(body.get("serverDryRun"))
                )
            case "POST", ["workflow-templates", namespace]:
                return self._create(self.templates, namespace, body["template"], dry=False)
            case "POST", ["workflow-templates", namespace, "lint"]:
                return self._create(self.templates, namespace, body["template"], dry=True)
            case "GET", ["workflow-templates", _]:
                return json.dumps({"metadata": {}, "items": [*self.templates.values()]})
            case "DELETE", ["workflows", _, name]:
                self._found(name)
                del self.workflows[name]
                return "{}"
            case "PUT", ["workflows", _, name, verb]:
                found = self._found(name)
                getattr(self, f"_{verb}")(found, body)
                return json.dumps(found)
            case _:
                raise Denied(5, "Not Found")

    def _found(self, name: str) -> Object:
        if name not in self.workflows:
            raise Denied(5, f'workflows.argoproj.io "{name}" not found')
        return self.workflows[name]

    def _create(self, where: dict[str, Object], namespace: str, body: Object, *, dry: bool) -> str:
        name = body["metadata"]["name"]
        if "entrypoint" not in body["spec"]:
            raise Denied(3, "spec.entrypoint is required")
        if name in where:
            raise Denied(6, f'"{name}" already exists')
        self._version += 1
        made = {key: value for key, value in body.items() if key not in ("apiVersion", "kind")}
        made["metadata"] = {**body["metadata"], "namespace": namespace, "uid": f"uid-{self._version}"}
        if not dry:
            where[name] = made
        return json.dumps(made)

    def _goes_on(self, found: Object) -> None:
        if found.get("status", {}).get("phase") in ("Succeeded", "Failed", "Error"):
            raise Denied(13, "cannot shutdown a completed workflow")

    def _stop(self, found: Object, _: Object) -> None:
        self._goes_on(found)
        found["spec"]["shutdown"] = "Stop"

    def _terminate(self, found: Object, _: Object) -> None:
        self._goes_on(found)
        found["spec"]["shutdown"] = "Terminate"

    def _suspend(self, found: Object, _: Object) -> None:
        found["spec"]["suspend"] = True

    def _resume(self, found: Object, _: Object) -> None:
        found["spec"].pop("suspend", None)
        for node in found["status"]["nodes"].values():
            if node["type"] == "Suspend":
                node["phase"] = "Succeeded"

    def _set(self, found: Object, body: Object) -> None:
        node = found["status"]["nodes"][body["nodeFieldSelector"].removeprefix("id=")]
        node["phase"] = body["phase"]
        given = json.loads(body.get("outputParameters") or "{}")
        for one in node.get("outputs", {}).get("parameters", ()):
            one["value"] = given[one["name"]]
            del one["valueFrom"]

    def _retry(self, found: Object, body: Object) -> None:
        if found["status"]["phase"] not in ("Failed", "Error") and not body["restartSuccessful"]:
            raise Denied(3, "Cannot retry a workflow in phase Running")
        found["status"] = {"phase": "", "nodes": {}}


@pytest.fixture
def standing() -> Iterator[Standing]:
    made = Standing()
    yield made
    made.close()


def no_pause(seconds: float) -> None:
    """Do not sleep."""


@pytest.fixture
def cluster(standing: Standing) -> ArgoServer:
    return ArgoServer(Server(standing.url, TOKEN, namespace="ml"), Policy(request=5, sleep=no_pause))


GATE: Object = {
    "id": "mine-2",
    "name": "mine.release",
    "displayName": "release",
    "type": "Suspend",
    "phase": "Running",
    "inputs": {"parameters": [{"name": "verdict", "enum": ["ship", "hold"]}]},
    "outputs": {
        "parameters": [
            {"name": "verdict", "valueFrom": {"supplied": {}}},
            {"name": "note", "valueFrom": {"supplied": {}, "default": ""}},
        ]
    },
}
ROOT: Object = {
    "id": "mine",
    "name": "mine",
    "displayName": "mine",
    "type": "DAG",
    "phase": "Running",
    "children": ["mine-1", "mine-2"],
}
TRAIN: Object = {
    "id": "mine-1",
    "name": "mine.train",
    "displayName": "train",
    "type": "Pod",
    "phase": "Failed",
    "boundaryID": "mine",
}


def workflow(name: str = "mine", phase: str = "Running", **nodes: Object) -> Object:
    return {
        "metadata": {"name": name, "namespace": "ml", "uid": f"uid-of-{name}"},
        "spec": {"entrypoint": "main"},
        "status": {"phase": phase, "nodes": {node["id"]: copy.deepcopy(node) for node in nodes.values()}},
    }


# --- reading -----------------------------------------------------------------------------------------------


def test_one_object_says_what_it_is(standing: Standing, cluster: ArgoServer) -> None:
    standing.workflows["mine"] = workflow()
    found = cluster.get(WORKFLOW, "mine")
    assert (found["apiVersion"], found["kind"]) == ("argoproj.io/v1alpha1", "Workflow")
    assert standing.asked[0][:2] == ("GET", "/api/v1/workflows/ml/mine")


def test_a_missing_object_is_told_from_a_missing_kind(cluster: ArgoServer) -> None:
    with pytest.raises(Refusal) as caught:
        cluster.get(WORKFLOW, "mine")
    assert (caught.value.code, caught.value.no_such_kind) == (404, False)


def test_list_by_label(standing: Standing, cluster: ArgoServer) -> None:
    standing.workflows = {name: workflow(name) for name in ("a", "b")}
    standing.workflows["a"]["metadata"]["labels"] = {"sweep": "lr"}
    assert [one["metadata"]["name"] for one in cluster.list(WORKFLOW).items] == ["a", "b"]
    found = cluster.list(WORKFLOW, labels="sweep=lr")
    assert [one["metadata"]["name"] for one in found.items] == ["a"]
    assert found.version == "7"


def test_what_the_server_does_not_show_is_said(cluster: ArgoServer) -> None:
    for kind in (POD, NODE):
        with pytest.raises(Unsupported, match=f"gives no access to {kind.plural}"):
            cluster.list(kind)
    with pytest.raises(Unsupported):
        cluster.proxy("pod", 80, "/")
    with pytest.raises(Unsupported):
        next(cluster.watch(TEMPLATE, "1", seconds=1))


def test_watch_ends_where_the_server_ends_it(standing: Standing, cluster: ArgoServer) -> None:
    standing.events = [
        {"result": {"type": "MODIFIED", "object": workflow()}},
        {"error": {"grpc_code": 8, "http_code": 429, "message": "EOF"}},
    ]
    (change,) = cluster.watch(WORKFLOW, "7", seconds=3, fields="metadata.name=mine")
    assert change.type == "MODIFIED"
    assert change.object["kind"] == "Workflow"
    assert standing.asked[0][2] == {
        "listOptions.fieldSelector": "metadata.name=mine",
        "listOptions.resourceVersion": "7",
        "listOptions.timeoutSeconds": "3",
    }


def test_watch_from_a_forgotten_version_is_told_so(standing: Standing, cluster: ArgoServer) -> None:
    standing.events = [{"error": {"grpc_code": 3, "message": "too old resource version: 1 (9)"}}]
    with pytest.raises(Expired):
        list(cluster.watch(WORKFLOW, "1", seconds=1))


def test_objects_are_followed(standing: Standing, cluster: ArgoServer) -> None:
    standing.workflows["mine"] = workflow()
    standing.workflows["mine"]["metadata"]["resourceVersion"] = "5"
    ended = workflow(phase="Succeeded")
    ended["metadata"]["resourceVersion"] = "8"
    standing.events = [{"result": {"type": "MODIFIED", "object": ended}}]
    changes = follow(cluster, WORKFLOW)
    assert [next(changes), next(changes)] != [None, None]
    changes.close()


def test_log_has_the_lines_of_the_server(standing: Standing, cluster: ArgoServer) -> None:
    standing.workflows = {name: workflow(name) for name in ("mine", "mine-b", "min")}
    standing.lines = ["2026-01-01T00:00:00.5Z one", "2026-01-01T00:00:01Z zwei \u00fc"]
    began = "2026-01-01T00:00:00Z"
    pieces = cluster.log("mine-b-train-123", "main", Excerpt(began, follow=True), run="mine")
    assert b"".join(pieces) == "".join(f"{line}\n" for line in standing.lines).encode()
    _, path, query, _ = standing.asked[-1]
    assert path == "/api/v1/workflows/ml/mine/log"
    assert query == {
        "podName": "mine-b-train-123",
        "logOptions.container": "main",
        "logOptions.timestamps": "true",
        "logOptions.sinceTime": began,
        "logOptions.follow": "true",
    }


# --- writing -----------------------------------------------------------------------------------------------


def manifest(name: str = "mine", submit: str = "one", kind: str = "Workflow") -> Object:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "annotations": {SUBMIT_ID: submit}},
        "spec": {"entrypoint": "main", "templates": []},
    }


def test_create_is_done_once_however_often_the_answer_is_lost(
    standing: Standing, cluster: ArgoServer
) -> None:
    standing.lose = 2
    made = cluster.create(WORKFLOW, manifest())
    assert made["metadata"]["uid"] == standing.workflows["mine"]["metadata"]["uid"]
    with pytest.raises(Refusal) as caught:
        cluster.create(WORKFLOW, manifest(submit="two"))
    assert caught.value.code == 409


def test_create_may_be_tried(standing: Standing, cluster: ArgoServer) -> None:
    for kind, name in ((WORKFLOW, "Workflow"), (TEMPLATE, "WorkflowTemplate")):
        cluster.create(kind, manifest(kind=name), dry_run=True)
    assert (standing.workflows, standing.templates) == ({}, {})
    wrong = manifest()
    del wrong["spec"]["entrypoint"]
    with pytest.raises(Refusal, match=r"spec\.entrypoint is required"):
        cluster.create(WORKFLOW, wrong, dry_run=True)


def test_templates(standing: Standing, cluster: ArgoServer) -> None:
    cluster.create(TEMPLATE, manifest("shared", kind="WorkflowTemplate"))
    assert [one["kind"] for one in cluster.list(TEMPLATE).items] == ["WorkflowTemplate"]
    assert list(standing.templates) == ["shared"]


def test_delete_takes_no_run_that_has_the_name_meanwhile(standing: Standing, cluster: ArgoServer) -> None:
    standing.workflows["mine"] = workflow()
    with pytest.raises(Refusal) as caught:
        cluster.delete(WORKFLOW, "mine", uid="another")
    assert caught.value.code == 409
    cluster.delete(WORKFLOW, "mine", uid="uid-of-mine")
    cluster.delete(WORKFLOW, "mine", uid="uid-of-mine")
    assert standing.workflows == {}


@pytest.mark.parametrize("lost", [0, 1])
def test_stop_terminate_and_suspend(standing: Standing, cluster: ArgoServer, lost: int) -> None:
    standing.workflows["mine"] = before = workflow()
    verbs: tuple[tuple[Verb, Object], ...] = (
        ("stop", {"shutdown": "Stop"}),
        ("terminate", {"shutdown": "Terminate"}),
        ("suspend", {"suspend": True}),
    )
    for verb, spec in verbs:
        standing.lose = lost
        after = cluster.act(verb, before)
        assert spec.items() <= after["spec"].items()
    with pytest.raises(Unsupported, match="`mine` is suspended, so Argo would not stop it"):
        cluster.act("stop", before)
    standing.workflows["mine"]["status"]["phase"] = "Failed"
    with pytest.raises(Unfit, match="has ended"):
        cluster.act("stop", before)


class Deaf(ArgoServer):
    """An Argo server that is unreachable from the first change on."""

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Object:
        if getattr(self, "changed", False):
            raise Unreachable("no answer", sent=True)
        self.changed = True
        return super().get(kind, name, namespace=namespace)


def test_a_change_that_nobody_can_tell_is_uncertain(standing: Standing) -> None:
    standing.workflows["mine"] = before = workflow()
    standing.lose = 1
    cluster = Deaf(Server(standing.url, TOKEN, namespace="ml"), Policy(request=5, sleep=no_pause))
    with pytest.raises(Uncertain, match="it is not known whether `mine` was changed"):
        cluster.act("stop", before)


def test_resume_answers_each_gate(standing: Standing, cluster: ArgoServer) -> None:
    standing.workflows["mine"] = workflow(root=ROOT, gate=GATE)
    standing.workflows["mine"]["spec"]["suspend"] = True
    with pytest.raises(Unfit, match=r"release needs an answer: -p verdict=VALUE \(ship or hold\)"):
        cluster.act("resume", workflow())
    standing.lose = 1
    after = cluster.act("resume", workflow(), {"parameters": {"verdict": "ship"}})
    assert "suspend" not in after["spec"]
    outputs = after["status"]["nodes"]["mine-2"]["outputs"]["parameters"]
    assert outputs == [{"name": "verdict", "value": "ship"}, {"name": "note", "value": ""}]
    verbs = [path.rpartition("/")[2] for method, path, _, _ in standing.asked if method == "PUT"]
    assert verbs == ["set", "resume"]


def test_retry(standing: Standing, cluster: ArgoServer) -> None:
    standing.workflows["mine"] = before = workflow(phase="Failed", root=ROOT, train=TRAIN)
    standing.workflows["mine"]["status"]["nodes"]["mine"]["children"] = ["mine-1"]
    standing.lose = 1
    after = cluster.act("retry", before, {"parameters": {"epochs": "3"}})
    assert after["status"]["phase"] == ""
    body = standing.asked[-2][3]
    assert body["parameters"] == ["epochs=3"]
    assert body["restartSuccessful"] is False
    with pytest.raises(Unfit, match="still going on"):
        cluster.act("retry", before)


def test_a_distributed_step_is_not_retried(standing: Standing, cluster: ArgoServer) -> None:
    made = {"inputs": {"parameters": [{"name": "flowdsl-workers", "value": "train-1a2b"}]}}
    standing.workflows["mine"] = before = workflow(phase="Failed", root=ROOT, train={**TRAIN, **made})
    before["status"]["nodes"]["mine"]["children"] = ["mine-1"]
    with pytest.raises(
        Unsupported, match=r"fail again at once \(train-1a2b\): retry it through the Kubernetes API"
    ):
        cluster.act("retry", before)
    assert all(method == "GET" for method, *_ in standing.asked)


# --- which server ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "environment", "server"),
    [
        ("argo:2746", {}, Server("https://argo:2746")),
        ("argo:2746", {"ARGO_SECURE": "false"}, Server("http://argo:2746")),
        ("https://argo/base/", {"ARGO_TOKEN": "Bearer x"}, Server("https://argo/base", "Bearer x")),
        ("argo", {"ARGO_TOKEN": "x", "ARGO_BASE_HREF": "/argo/"}, Server("https://argo/argo", "Bearer x")),
        ("argo", {"ARGO_INSECURE_SKIP_VERIFY": "true"}, Server("https://argo", verify=False)),
        ("argo", {"ARGO_NAMESPACE": "ml"}, Server("https://argo", namespace="ml")),
    ],
)
def test_the_server_is_found_as_argo_finds_it(url: str, environment: dict[str, str], server: Server) -> None:
    assert server_of(url, environment) == server
    assert server_of(url, environment, "own").namespace == "own"


@pytest.mark.parametrize(
    "url", ["ftp://argo", "https://", "a b", ":80", "http://[argo", "argo:port", "argo:99999"]
)
def test_what_is_no_address_is_said(url: str) -> None:
    with pytest.raises(Misconfigured, match="is not the address of an Argo server"):
        server_of(url, {})


def test_commands_go_through_the_server(
    standing: Standing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARGO_SERVER", standing.url)
    monkeypatch.setenv("ARGO_TOKEN", "wrong")
    monkeypatch.setenv("ARGO_NAMESPACE", "ml")
    standing.workflows["mine"] = workflow(root=ROOT, gate=GATE)
    assert run(["stop", "mine"]) == 3
    said = "token not valid. see https://argo-workflows.readthedocs.io/: "
    assert f"{said}ARGO_TOKEN is none of its tokens, or has expired" in capsys.readouterr().err
    monkeypatch.delenv("ARGO_TOKEN")
    assert run(["stop", "mine"]) == 3
    assert f"{said}set ARGO_TOKEN" in capsys.readouterr().err
    monkeypatch.setenv("ARGO_TOKEN", "secret")
    assert run(["resume", "mine", "--step", "release", "-p", "verdict=hold"]) == 0
    assert run(["stop", "mine"]) == 0
    assert run(["delete", "mine", "--yes", "--argo-server", standing.url]) == 0
    assert capsys.readouterr().out == "mine: continues from release\nmine: stopping\nmine: deleted\n"
    assert standing.workflows == {}


def test_logs_of_pods_that_the_server_does_not_show(
    standing: Standing,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARGO_SERVER", standing.url)
    monkeypatch.setenv("ARGO_TOKEN", "secret")
    monkeypatch.setenv("ARGO_NAMESPACE", "ml")
    step = {"name": "mine.train", "displayName": "train", "type": "Pod", "templateName": "fit"}
    times = {"startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:02Z"}
    train = {**step, **times, "id": "mine-1", "phase": "Succeeded", "boundaryID": "mine"}
    standing.workflows["mine"] = workflow(phase="Succeeded", root=ROOT, train=train)
    standing.lines = ["2026-01-01T00:00:00.5Z one", "2026-01-01T00:00:01Z zwei \u00fc"]
    assert run(["logs", "mine", "train"]) == 0
    assert capfdbinary.readouterr().out == "one\nzwei \u00fc\n".encode()
    _, _, query, _ = standing.asked[-1]
    assert query["podName"] == pod_name("mine", "mine.train", "fit")


def test_jobs_that_the_server_does_not_show_are_said(
    standing: Standing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARGO_TOKEN", "secret")
    standing.workflows["mine"] = workflow()
    manifest = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\n"
    template = {"name": "train", "resource": {"action": "create", "manifest": manifest}}
    standing.workflows["mine"]["spec"]["templates"] = [template]
    words = ["stop", "mine", "--argo-server", standing.url, "-n", "ml"]
    assert run(words) == 3
    said = f"the Argo server at {standing.url} gives no access to pytorchjobs"
    assert f"mine: jobs that it has made may be left: {said}" in capsys.readouterr().err
    assert standing.workflows["mine"]["spec"]["shutdown"] == "Stop"
    assert run([*words, "--keep-jobs"]) == 0
