"""What is done to runs, on a real API server: recorded runs are stopped, resumed, retried and deleted."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.cli.app import run
from flowdsl.cli.runs.control import delete
from flowdsl.runtime.cluster.kubernetes import Kubernetes
from flowdsl.runtime.cluster.transport import Access, Transport
from tests.apiserver.client import PODS, WORKFLOWS, Refused
from tests.apiserver.history import load
from tests.apiserver.replay import Replay, own
from tests.corpus import corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flowdsl.runtime.cluster.seam import Kind
    from tests.apiserver.history import Event
    from tests.apiserver.server import ApiServer

Object = dict[str, Any]
JOBS = "/apis/batch/v1/namespaces/{}/jobs"


@pytest.fixture(autouse=True)
def settings(server: ApiServer, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's cluster is the server, and the namespace that of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig("admin", namespace)))


def replay(server: ApiServer, namespace: str, name: str, run_name: str = "mine") -> Replay:
    history = load(corpus("recordings", "histories", f"{name}.jsonl"), run_name)
    return Replay(server, history, namespace)


def waits(event: Event) -> bool:
    """Whether a workflow has come to a suspended step."""
    nodes: Object = (event.object.get("status", {}).get("nodes") or {}) if event.kind == "wf" else {}
    return any(node["type"] == "Suspend" and node["phase"] == "Running" for node in nodes.values())


def runs(event: Event) -> bool:
    return event.kind == "wf" and event.object.get("status", {}).get("phase") == "Running"


def there(server: ApiServer, namespace: str, name: str = "mine") -> Object:
    return server.admin.get(f"{WORKFLOWS.format(namespace)}/{name}")


def pods(server: ApiServer, namespace: str) -> list[str]:
    return [one["metadata"]["name"] for one in server.admin.get(PODS.format(namespace))["items"]]


def create(server: ApiServer, namespace: str, name: str, **parts: Any) -> Object:
    """A workflow that no controller has seen, or with the status that it is said to have."""
    labels = {"labels": parts.pop("labels")} if "labels" in parts else {}
    spec: Object = {
        "entrypoint": "main",
        "templates": [{"name": "main", "suspend": {}}],
        **parts.pop("spec", {}),
    }
    body: Object = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": name, **labels},
        "spec": spec,
        **parts,
    }
    return server.admin.create(WORKFLOWS.format(namespace), body)


ENDED: Object = {"phase": "Failed", "startedAt": "2020-01-01T00:00:00Z", "finishedAt": "2020-01-01T01:00:00Z"}


def test_resume_lets_the_gate_go(
    server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replay(server, namespace, "approve-then-go").until(waits)
    assert run(["resume", "mine"]) == 0
    assert capsys.readouterr().out == "mine: continues from approve\n"
    nodes = there(server, namespace)["status"]["nodes"]
    (gate,) = [node for node in nodes.values() if node["type"] == "Suspend"]
    assert gate["phase"] == "Succeeded"
    assert gate["finishedAt"]
    assert run(["resume", "mine"]) == 0
    assert capsys.readouterr().out == "mine: is not suspended\n"


def test_resume_of_what_is_not_asked_for_changes_nothing(
    server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replay(server, namespace, "approve-then-go").until(waits)
    before = there(server, namespace)
    assert run(["resume", "mine", "-p", "verdict=ship"]) == 2
    assert "nothing that `mine` waits at asks for `verdict`: it asks for nothing" in capsys.readouterr().err
    assert run(["resume", "mine", "--step", "aprove"]) == 2
    assert "did you mean `approve`?" in capsys.readouterr().err
    assert there(server, namespace) == before


def test_suspend_and_resume(server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]) -> None:
    replay(server, namespace, "stopped-runs-exit-handler").until(runs)
    for _ in range(2):
        assert run(["suspend", "mine"]) == 0
        assert there(server, namespace)["spec"]["suspend"] is True
    assert run(["resume", "mine"]) == 0
    assert "suspend" not in there(server, namespace)["spec"]


@pytest.mark.parametrize("verb", ["stop", "terminate", "suspend", "resume"])
def test_what_has_ended_is_left_as_it_is(
    server: ApiServer, namespace: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replay(server, namespace, "steps-fail-and-exit").run()
    before = there(server, namespace)
    assert run([verb, "mine"]) == 2
    assert capsys.readouterr().err.startswith(f"flowdsl: `mine` has ended (Failed): it cannot be {verb[:4]}")
    assert there(server, namespace) == before


def test_stop_and_terminate(server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]) -> None:
    replay(server, namespace, "gpu-pending-then-terminated").until(runs)
    assert run(["stop", "mine"]) == 0
    assert there(server, namespace)["spec"]["shutdown"] == "Stop"
    assert run(["stop", "mine"]) == 0
    assert run(["terminate", "mine"]) == 0
    assert there(server, namespace)["spec"]["shutdown"] == "Terminate"
    assert run(["stop", "mine"]) == 0
    assert there(server, namespace)["spec"]["shutdown"] == "Terminate"
    said = capsys.readouterr().out.splitlines()
    assert said == ["mine: stopping", "mine: stopping", "mine: terminating", "mine: terminating"]


@pytest.mark.parametrize(("verb", "shutdown"), [("stop", "Stop"), ("terminate", "Terminate")])
def test_a_suspended_run_is_resumed_to_end(
    server: ApiServer, namespace: str, verb: str, shutdown: str
) -> None:
    """The controller looks at no suspended run, also not at one that is to stop."""
    replay(server, namespace, "gpu-pending-then-terminated").until(runs)
    for _ in range(2):
        assert run(["suspend", "mine"]) == 0
        assert run([verb, "mine"]) == 0
        spec = there(server, namespace)["spec"]
        assert (spec["shutdown"], "suspend" in spec) == (shutdown, False)
    assert run(["suspend", "mine"]) == run(["stop", "mine"]) == 0
    assert there(server, namespace)["spec"]["shutdown"] == shutdown


def test_retry_takes_out_what_failed_with_its_pods(
    server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replay(server, namespace, "steps-fail-and-exit").run()
    before = there(server, namespace)
    there_before = pods(server, namespace)
    assert run(["retry", "mine", "--dry-run"]) == 0
    assert there(server, namespace) == before
    assert pods(server, namespace) == there_before
    planned = capsys.readouterr().out
    assert run(["retry", "mine"]) == 0
    assert capsys.readouterr().out == planned.replace("would continue", "continues")
    after = there(server, namespace)
    assert "phase" not in after["status"]
    assert "workflows.argoproj.io/completed" not in after["metadata"]["labels"]
    kept = set(after["status"]["nodes"])
    for name in pods(server, namespace):
        pod = server.admin.get(f"{PODS.format(namespace)}/{name}")
        assert pod["metadata"]["annotations"]["workflows.argoproj.io/node-id"] in kept
    failed = [node for node in before["status"]["nodes"].values() if node["phase"] in ("Failed", "Error")]
    assert failed
    phases = {node["phase"] for node in after["status"]["nodes"].values()}
    assert not phases & {"Failed", "Error"}
    assert len(pods(server, namespace)) < len(there_before)
    assert run(["retry", "mine"]) == 2
    assert "`mine` is still going on (Pending): only what has ended is retried" in capsys.readouterr().err


def test_retry_of_what_succeeded_needs_a_step(
    server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replay(server, namespace, "approve-then-go").run()
    assert run(["retry", "mine"]) == 2
    assert "flowdsl retry mine STEP" in capsys.readouterr().err
    assert run(["retry", "mine", "release"]) == 0
    assert capsys.readouterr().out == "mine: continues; again: release\n"
    steps = {
        node["displayName"]: node["phase"] for node in there(server, namespace)["status"]["nodes"].values()
    }
    assert "release" not in steps
    assert steps["build"] == "Succeeded"
    assert steps["mine"] == "Running"


def test_retry_with_another_parameter(
    server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = {
        "arguments": {
            "parameters": [
                {"name": "epochs", "value": "3"},
                {"name": "rate", "value": "1", "enum": ["1", "2"]},
            ]
        }
    }
    create(server, namespace, "mine", spec=arguments, status=ENDED)
    assert run(["retry", "mine", "-p", "epoch=4"]) == 2
    assert "did you mean `epochs`?" in capsys.readouterr().err
    assert run(["retry", "mine", "-p", "rate=3"]) == 2
    assert "the parameter `rate` is one of 1, 2, not `3`" in capsys.readouterr().err
    assert run(["retry", "mine", "-p", "epochs=4"]) == 0
    found = there(server, namespace)["spec"]["arguments"]["parameters"]
    assert found == [{"name": "epochs", "value": "4"}, {"name": "rate", "value": "1", "enum": ["1", "2"]}]


class Slow(Kubernetes):
    """One before whose first change somebody else makes one."""

    def __init__(self, other: Callable[[], object]) -> None:
        super().__init__(Transport(Access()))
        self.others = [other]

    def replace(self, kind: Kind, body: Object) -> Object:
        if self.others:
            self.others.pop()()
        return super().replace(kind, body)

    def delete(self, kind: Kind, name: str, *, uid: str = "", namespace: str | None = None) -> None:
        if self.others:
            self.others.pop()()
        super().delete(kind, name, uid=uid, namespace=namespace)


def test_change_of_somebody_else_is_not_lost(server: ApiServer, namespace: str) -> None:
    """Two change a run at once: the second reads again."""
    replay(server, namespace, "approve-then-go").until(waits)
    before = there(server, namespace)
    path = f"{WORKFLOWS.format(namespace)}/mine"
    cluster = Slow(lambda: server.admin.patch(path, {"metadata": {"labels": {"team": "vision"}}}))
    cluster.act("resume", before)
    after = there(server, namespace)
    assert after["metadata"]["labels"]["team"] == "vision"
    assert "Running" not in {n["phase"] for n in after["status"]["nodes"].values() if n["type"] == "Suspend"}


def job(namespace: str, name: str, **metadata: Any) -> Object:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {"template": {"spec": pod}},
    }


MANIFEST = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: '{{workflow.name}}-train'\n"
MAKES_A_JOB: Object = {
    "templates": [{"name": "main", "resource": {"action": "create", "manifest": MANIFEST}}]
}


@pytest.mark.parametrize("verb", ["stop", "terminate", "delete"])
def test_jobs_of_a_run_end_with_it(
    server: ApiServer, namespace: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = create(server, namespace, "mine", spec=MAKES_A_JOB)
    owner = {
        "apiVersion": made["apiVersion"],
        "kind": "Workflow",
        "name": "mine",
        "uid": made["metadata"]["uid"],
    }
    path = JOBS.format(namespace)
    server.admin.create(path, job(namespace, "owned", ownerReferences=[owner]))
    server.admin.create(path, job(namespace, "labelled", labels={"workflows.argoproj.io/workflow": "mine"}))
    server.admin.create(path, job(namespace, "other", labels={"workflows.argoproj.io/workflow": "another"}))
    assert run([verb, "mine", "--dry-run"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == ["would delete Job labelled of mine", "would delete Job owned of mine"]
    assert len(server.admin.get(path)["items"]) == 3
    assert run([verb, "mine", "--yes"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == ["mine: deleted Job labelled", "mine: deleted Job owned"]
    left = [one for one in server.admin.get(path)["items"] if "deletionTimestamp" not in one["metadata"]]
    assert [one["metadata"]["name"] for one in left] == ["other"]


def test_jobs_that_outlived_their_run_can_still_be_stopped(
    server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    create(server, namespace, "mine", spec=MAKES_A_JOB, status=ENDED)
    path = JOBS.format(namespace)
    server.admin.create(path, job(namespace, "train", labels={"workflows.argoproj.io/workflow": "mine"}))
    assert run(["terminate", "mine"]) == 0
    assert capsys.readouterr().out == "mine: deleted Job train\n"
    assert run(["terminate", "mine"]) == 2
    assert "shutdown" not in there(server, namespace)["spec"]


def test_jobs_may_be_kept(server: ApiServer, namespace: str) -> None:
    create(server, namespace, "mine", spec=MAKES_A_JOB)
    path = JOBS.format(namespace)
    server.admin.create(path, job(namespace, "train", labels={"workflows.argoproj.io/workflow": "mine"}))
    assert run(["stop", "mine", "--keep-jobs"]) == 0
    assert [one["metadata"]["name"] for one in server.admin.get(path)["items"]] == ["train"]


def test_jobs_that_may_not_be_seen_are_said(
    server: ApiServer, namespace: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    create(server, namespace, "mine", spec=MAKES_A_JOB)
    rule = {"apiGroups": ["argoproj.io"], "resources": ["workflows"], "verbs": ["get", "list", "patch"]}
    server.allow("limited", namespace, [rule])
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig("limited", namespace)))
    assert run(["stop", "mine"]) == 3
    assert there(server, namespace)["spec"]["shutdown"] == "Stop"
    assert "mine: jobs that it has made may be left: cannot list jobs" in capsys.readouterr().err


def test_what_may_not_be_done_is_said(
    server: ApiServer, namespace: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    create(server, namespace, "mine")
    rule = {"apiGroups": ["argoproj.io"], "resources": ["workflows"], "verbs": ["get", "list"]}
    server.allow("limited", namespace, [rule])
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig("limited", namespace)))
    for verb in ("stop", "delete"):
        assert run([verb, "mine", *(["--yes"] if verb == "delete" else [])]) == 3
    assert capsys.readouterr().err.count("to see what you may do: kubectl auth can-i") == 2
    assert "shutdown" not in there(server, namespace)["spec"]


def test_delete(server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]) -> None:
    replay(server, namespace, "retry-then-succeed").run()
    assert run(["delete", "mine"]) == 0
    assert capsys.readouterr().out == "mine: deleted\n"
    with pytest.raises(Refused):
        there(server, namespace)
    assert run(["delete", "mine"]) == 2
    assert "there is no run `mine`" in capsys.readouterr().err


def test_delete_of_a_run_that_goes_on_has_to_be_meant(
    server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    create(server, namespace, "mine")
    assert run(["delete", "mine"]) == 2
    assert "to delete mine, which has not ended, say --yes" in capsys.readouterr().err
    assert there(server, namespace)["metadata"]["name"] == "mine"
    assert run(["delete", "mine", "-y"]) == 0


def test_delete_takes_no_run_that_has_the_name_meanwhile(server: ApiServer, namespace: str) -> None:
    old = create(server, namespace, "mine")

    def another() -> None:
        server.admin.delete(f"{WORKFLOWS.format(namespace)}/mine")
        create(server, namespace, "mine")

    delete(Slow(another), old)
    assert there(server, namespace)["metadata"]["uid"] != old["metadata"]["uid"]


def test_many_runs_are_selected(
    server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, parts in {
        "a": {"labels": {"sweep": "lr"}, "status": ENDED},
        "b": {"labels": {"sweep": "lr"}},
        "c": {"status": {**ENDED, "phase": "Succeeded"}},
        "d": {},
    }.items():
        create(server, namespace, name, **copy.deepcopy(parts))

    def left() -> list[str]:
        return [one["metadata"]["name"] for one in server.admin.get(WORKFLOWS.format(namespace))["items"]]

    assert run(["delete", "--all"]) == 2
    said = capsys.readouterr().err
    assert "to delete 4 runs, 2 of them unfinished, say --yes; --dry-run shows what would be done" in said
    assert run(["delete", "--older-than", "7d", "--dry-run"]) == 0
    assert capsys.readouterr().out == "would delete a (Failed)\nwould delete c (Succeeded)\n"
    assert run(["stop", "-l", "sweep=lr"]) == 0
    assert capsys.readouterr().out == "b: stopping\n"
    assert run(["terminate", "--all", "--yes"]) == 0
    assert capsys.readouterr().out == "b: terminating\nd: terminating\n"
    assert run(["delete", "--status", "succeeded"]) == 0
    assert left() == ["a", "b", "d"]
    assert run(["delete", "a", "b", "x", "--yes"]) == 2
    assert left() == ["a", "b", "d"]
    assert run(["delete", "--all", "--yes"]) == 0
    assert left() == []
    assert run(["delete", "--all", "--yes"]) == 0
    assert capsys.readouterr().out.endswith("no run is selected\n")


def test_own_objects_are_as_argo_makes_them(server: ApiServer, namespace: str) -> None:
    """What is put back is what was read but for what was changed."""
    replay(server, namespace, "approve-then-go").until(waits)
    before = own(there(server, namespace))
    assert run(["resume", "mine"]) == 0
    after = own(there(server, namespace))
    (gate,) = [node for node in after["status"]["nodes"].values() if node["type"] == "Suspend"]
    gate["phase"] = "Running"
    del gate["finishedAt"]
    del after["metadata"]["annotations"]["flowdsl.dev/change-id"]
    assert json.dumps(after, sort_keys=True) == json.dumps(before, sort_keys=True)
