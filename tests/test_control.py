"""What is done to runs, on a small API server in the process, and to runs on this machine."""

from __future__ import annotations

import base64
import copy
import errno
import fcntl
import gzip
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.cli.app import run as flowdsl
from tests.cluster.faults import Fault, Proxy, until_it_passes
from tests.cluster.objects import Objects
from tests.cluster.runs import WORKFLOWS, served
from tests.commands import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
BREAKS: tuple[Fault, ...] = ("unanswered", "503", "cut")


class Cluster:
    """The objects of the API server, and the proxy in front of it."""

    def __init__(self, objects: Objects, proxy: Proxy) -> None:
        self.objects = objects
        self.proxy = proxy

    def put(self, workflow: Object) -> None:
        """Store a run, with a pod for each of its nodes that has one."""
        for path in [one for one in self.objects.known if one.startswith(f"{PODS}/")]:
            self.objects.drop(path)
        if f"{WORKFLOWS}/mine" in self.objects.known:
            self.objects.drop(f"{WORKFLOWS}/mine")
        self.objects.put(WORKFLOWS, copy.deepcopy(workflow))
        for node in workflow["status"].get("nodes", {}).values():
            if node["type"] == "Pod":
                self.objects.put(PODS, pod(node))

    @property
    def run(self) -> Object:
        return self.objects.known[f"{WORKFLOWS}/mine"]

    @property
    def pods(self) -> list[str]:
        return sorted(one.rpartition("/")[2] for one in self.objects.known if one.startswith(f"{PODS}/"))


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    objects = Objects()
    with served(objects, tmp_path, monkeypatch) as proxy:
        yield Cluster(objects, proxy)


def node(name: str, type: str, phase: str, /, *children: str, **more: Any) -> Object:
    found = {"id": name, "name": "mine" if name == "mine" else f"mine.{name}", "displayName": name}
    found |= {"type": type, "phase": phase, "startedAt": "2026-01-31T10:00:00Z"}
    if name != "mine":
        found["boundaryID"] = "mine"
    return found | ({"children": list(children)} if children else {}) | more


def pod(of: Object) -> Object:
    return {
        "metadata": {
            "name": f"mine-{of['id']}",
            "labels": {"workflows.argoproj.io/workflow": "mine"},
            "annotations": {"workflows.argoproj.io/node-id": of["id"]},
        }
    }


def workflow(*nodes: Object, phase: str = "Running", **spec: Any) -> Object:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "mine", "namespace": "default"},
        "spec": {"entrypoint": "main", **spec},
        "status": {"phase": phase, "nodes": {one["id"]: one for one in nodes}},
    }


def packed(found: Object) -> Object:
    status = dict(found["status"])
    text = json.dumps(status.pop("nodes"))
    status["compressedNodes"] = base64.b64encode(gzip.compress(text.encode())).decode()
    return {**found, "status": status}


def unpacked(found: Object) -> Object:
    nodes: Object = json.loads(gzip.decompress(base64.b64decode(found["status"]["compressedNodes"])))
    return nodes


def gate(name: str = "release", *outputs: Object, **more: Any) -> Object:
    return node(
        name, "Suspend", "Running", **({"outputs": {"parameters": list(outputs)}} if outputs else {}), **more
    )


def asks(name: str, default: str | None = None, **more: Any) -> Object:
    source: Object = {"supplied": {}}
    return {"name": name, "valueFrom": source if default is None else {**source, "default": default}, **more}


VERDICT = {
    "inputs": {"parameters": [{"name": "verdict", "enum": ["ship", "hold"], "description": "Release it?"}]}
}
WAITING = workflow(node("mine", "DAG", "Running", "release"), gate())
FAILED = workflow(
    node("mine", "DAG", "Failed", "prepare"),
    node("prepare", "Pod", "Succeeded", "train"),
    node("train", "Pod", "Failed", "report"),
    node("report", "Skipped", "Omitted"),
    node("x", "Pod", "Succeeded", name="mine.onExit", displayName="mine.onExit", boundaryID=""),
    phase="Failed",
)


# --- answers that are lost ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", BREAKS)
@pytest.mark.parametrize("verb", ["stop", "terminate", "suspend", "resume", "retry", "delete"])
def test_a_lost_answer_is_cleared_up(cluster: Cluster, verb: str, fault: Fault) -> None:
    """Whichever request is broken: the command takes effect in the end, exactly once."""
    before = FAILED if verb in ("retry", "delete") else WAITING

    def once(_: int) -> None:
        cluster.put(before)
        assert flowdsl([verb, "mine", "--request-timeout", "1"]) == 0
        if verb == "delete":
            assert f"{WORKFLOWS}/mine" not in cluster.objects.known
            return
        spec, status = cluster.run["spec"], cluster.run["status"]
        assert spec.get("shutdown") == {"stop": "Stop", "terminate": "Terminate"}.get(verb)
        assert spec.get("suspend", False) is (verb == "suspend")
        if verb == "resume":
            assert status["nodes"]["release"]["phase"] == "Succeeded"
        if verb == "retry":
            assert set(status["nodes"]) == {"mine", "prepare"}
            assert cluster.pods == ["mine-prepare"]

    assert until_it_passes(cluster.proxy, fault, once) >= 2


@pytest.mark.usefixtures("impatient")
def test_what_cannot_be_verified_is_unknown(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the change on, no request is answered."""
    from tests.cluster.faults import Asked

    def dead(asked: Asked) -> Fault | None:
        cluster.proxy.seen.append(asked)
        return "unanswered" if any(one.method in ("PATCH", "DELETE") for one in cluster.proxy.seen) else None

    cluster.put(WAITING)
    monkeypatch.setattr(cluster.proxy, "fault_of", dead)
    for words in (["stop", "mine"], ["delete", "mine", "--yes"]):
        cluster.proxy.seen.clear()
        assert flowdsl(words) == 4
        assert "it is not known whether `mine` was changed" in capsys.readouterr().err
    assert f"{WORKFLOWS}/mine" not in cluster.objects.known


# --- suspended steps ---------------------------------------------------------------------------------------


def test_answers_are_defaults_or_given(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = (asks("verdict", globalName="decision"), asks("note", "none"), {"name": "made", "value": "1"})
    cluster.put(workflow(node("mine", "DAG", "Running", "release"), gate("release", *outputs, **VERDICT)))
    assert flowdsl(["resume", "mine"]) == 2
    assert "release needs an answer: -p verdict=VALUE (ship or hold)" in capsys.readouterr().err
    assert flowdsl(["resume", "mine", "-p", "verdict=shipp"]) == 2
    assert "release: `verdict` is ship or hold, not `shipp`" in capsys.readouterr().err
    assert flowdsl(["resume", "mine", "-p", "verdict=ship", "-p", "other=1"]) == 2
    assert "asks for `other`: what it asks for is verdict, note" in capsys.readouterr().err
    assert flowdsl(["resume", "mine", "-p", "verdict=ship"]) == 0
    found = cluster.run["status"]["nodes"]["release"]
    assert found["outputs"]["parameters"] == [
        {"name": "verdict", "value": "ship", "globalName": "decision"},
        {"name": "note", "value": "none"},
        {"name": "made", "value": "1"},
    ]
    assert cluster.run["status"]["outputs"]["parameters"] == [{"name": "decision", "value": "ship"}]


def test_one_of_several_gates(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    gates = [gate("a", asks("verdict")), gate("to-b", asks("verdict"))]
    cluster.put(workflow(node("mine", "DAG", "Running", "a", "to-b"), *gates, suspend=True))
    assert flowdsl(["resume", "mine", "-p", "verdict=1"]) == 2
    assert "a, to-b all ask for `verdict`: answer one at a time, with --step STEP" in capsys.readouterr().err
    assert flowdsl(["resume", "mine", "--step", "to_b", "-p", "verdict=1"]) == 0
    phases = {name: one["phase"] for name, one in cluster.run["status"]["nodes"].items()}
    assert phases == {"mine": "Running", "a": "Running", "to-b": "Succeeded"}
    assert cluster.run["spec"]["suspend"] is True
    assert flowdsl(["resume", "mine", "-p", "verdict=2"]) == 0
    assert cluster.run["status"]["nodes"]["a"]["outputs"]["parameters"] == [{"name": "verdict", "value": "2"}]
    assert "suspend" not in cluster.run["spec"]


def test_packed_nodes_stay_packed(cluster: Cluster) -> None:
    cluster.put(packed(WAITING))
    assert flowdsl(["resume", "mine"]) == 0
    assert "nodes" not in cluster.run["status"]
    assert unpacked(cluster.run)["release"]["phase"] == "Succeeded"
    cluster.put(packed(FAILED))
    assert flowdsl(["retry", "mine"]) == 0
    assert set(unpacked(cluster.run)) == {"mine", "prepare"}


def test_nodes_that_cannot_be_read_are_no_hindrance_to_stop(cluster: Cluster) -> None:
    away = workflow()
    away["status"] = {"phase": "Running", "offloadNodeStatusVersion": "fnv:1"}
    cluster.put(away)
    assert flowdsl(["retry", "mine"]) == 2
    assert flowdsl(["resume", "mine"]) == 2
    assert flowdsl(["stop", "mine"]) == 0


def test_nothing_of_a_run_reaches_the_terminal_raw(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.put(workflow(node("mine", "DAG", "Running", "a\x1b;x\x07"), gate("a\x1b;x\x07")))
    assert flowdsl(["resume", "mine"]) == 0
    assert capsys.readouterr().out == "mine: continues from a;x\n"


def test_a_step_at_which_a_run_does_not_wait(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.put(
        workflow(node("mine", "DAG", "Running", "made"), node("made", "Pod", "Succeeded", "a"), gate("a"))
    )
    assert flowdsl(["resume", "mine", "--step", "made"]) == 2
    assert capsys.readouterr().err == "flowdsl: `mine` waits at no step `made`: there is `a`\n"


# --- retries -----------------------------------------------------------------------------------------------


def test_retry_from_a_step(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.put(FAILED)
    assert flowdsl(["retry", "mine", "prepar"]) == 2
    assert "has no step `prepar`: did you mean `prepare`?" in capsys.readouterr().err
    assert flowdsl(["retry", "mine", "other"]) == 2
    there = "there are `onExit`, `prepare`, `report`, `train`"
    assert capsys.readouterr().err == f"flowdsl: `mine` has no step `other`: {there}\n"
    assert flowdsl(["retry", "mine", "prepare", "--dry-run"]) == 0
    assert cluster.run["status"]["phase"] == "Failed"
    assert flowdsl(["retry", "mine", "prepare"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [one.partition("; ")[2] for one in said] == ["again: prepare, train, onExit"] * 2
    assert set(cluster.run["status"]["nodes"]) == {"mine"}
    assert cluster.run["status"]["conditions"] == [{"type": "Completed", "status": "False"}]
    assert cluster.pods == []


def test_a_step_that_is_there_twice_is_named_by_its_place(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = workflow(
        node("mine", "DAG", "Failed", "a", "b"),
        node("a", "Pod", "Failed", displayName="train"),
        node("b", "Pod", "Failed", displayName="train"),
        phase="Failed",
    )
    cluster.put(twice)
    assert flowdsl(["retry", "mine", "train"]) == 2
    assert "`mine` has several steps called train: say which, a, b" in capsys.readouterr().err
    assert flowdsl(["retry", "mine", "b"]) == 0


def test_a_round_is_named_as_it_is_shown(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = {f"runs.train({n}:i:/{n},rate:0.{n})": "Failed" if n == 1 else "Succeeded" for n in range(3)}
    again = {"boundaryID": "runs", "nodeFlag": {"retried": True}}
    loop = workflow(
        node("mine", "DAG", "Failed", "runs"),
        node("runs", "DAG", "Failed", "runs.train"),
        node("runs.train", "TaskGroup", "Failed", *rounds, boundaryID="runs", displayName="train"),
        *(node(one, "Retry", end, f"{one}(0)", boundaryID="runs") for one, end in rounds.items()),
        *(node(f"{one}(0)", "Pod", end, **again) for one, end in rounds.items()),
        phase="Failed",
    )
    cluster.put(loop)
    for name in ("runs.train(2)", "runs(2)", "train(2)", [*rounds][2]):
        assert flowdsl(["retry", "mine", name, "--dry-run"]) == 0
        said = "mine: would continue; again: runs.train(1), runs.train(2)\n"
        assert capsys.readouterr().out == said
    assert flowdsl(["retry", "mine", "runs.train(3)"]) == 2
    assert "has no step `runs.train(3)`: did you mean `runs.train(" in capsys.readouterr().err


JOBS = "/apis/batch/v1/namespaces/default/jobs"
TRAIN_JOBS = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/default/trainjobs"
JOB_SETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
WORKERS = {"inputs": {"parameters": [{"name": "flowdsl-workers", "value": "train-1a2b"}]}}


def job(name: str, *ended: str, owner: str = "mine-uid", **metadata: Any) -> Object:
    conditions = [{"type": one, "status": "True"} for one in ended]
    whole = {"name": name, "uid": f"{name}-uid", "ownerReferences": [{"uid": owner}], **metadata}
    return {"metadata": whole, "status": {"conditions": conditions}}


def labelled(day: str) -> Object:
    """The metadata of a job with the label of the run, which began on 31 January."""
    return {"labels": {"workflows.argoproj.io/workflow": "mine"}, "creationTimestamp": f"{day}T10:00:00Z"}


def making(*kinds: str) -> Object:
    """A run whose templates create objects of these kinds."""
    versions = {"Job": "batch/v1", "TrainJob": "trainer.kubeflow.org/v1alpha1"}
    manifests = [f"apiVersion: {versions[kind]}\nkind: {kind}\n" for kind in kinds]
    return {
        "templates": [
            {"name": f"t{n}", "resource": {"action": "apply", "manifest": one}}
            for n, one in enumerate(manifests)
        ]
    }


def test_the_parts_of_a_step_on_several_pods_run_again_together(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    spread = workflow(
        node("mine", "DAG", "Failed", "train", "other"),
        node("train", "DAG", "Failed", "service"),
        node("service", "Pod", "Succeeded", "workers", boundaryID="train", **WORKERS),
        node("workers", "Retry", "Failed", "first", "second", boundaryID="train", **WORKERS),
        node("first", "Pod", "Failed", boundaryID="train", nodeFlag={"retried": True}, **WORKERS),
        node("second", "Pod", "Failed", boundaryID="train", nodeFlag={"retried": True}, **WORKERS),
        node("other", "Pod", "Succeeded"),
        phase="Failed",
        **making("Job"),
    )
    spread["metadata"]["uid"] = "mine-uid"
    (made,) = spread["spec"].pop("templates")
    spread["status"]["storedTemplates"] = {"namespaced/library/t0": made}
    cluster.put(spread)
    for one in (
        job("train-1a2b-0", "Failed"),
        job("train-1a2b-1", "Failed"),
        job("train-1a2b-2"),
        job("train-1a2b-3", "Failed", owner="another"),
        job("train-1a2b-4", "Failed", owner="another", **labelled("2026-02-01")),
        job("train-1a2b-5", "Failed", owner="another", **labelled("2026-01-30")),
        job("else-1a2b", "Failed"),
    ):
        cluster.objects.put(JOBS, one)
    assert flowdsl(["retry", "mine", "--dry-run"]) == 0
    assert len([one for one in cluster.objects.known if one.startswith(JOBS)]) == 7
    assert flowdsl(["retry", "mine"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [one.partition("; ")[2] for one in said] == ["again: service, first, second"] * 2
    assert set(cluster.run["status"]["nodes"]) == {"mine", "train", "other"}
    assert cluster.pods == ["mine-other"]
    left = sorted(one.rpartition("/")[2] for one in cluster.objects.known if one.startswith(JOBS))
    assert left == ["else-1a2b", "train-1a2b-2", "train-1a2b-3", "train-1a2b-5"]


def test_a_train_job_begins_again_when_its_job_set_is_gone(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    spread = workflow(
        node("mine", "DAG", "Failed", "train"),
        node("train", "DAG", "Failed", "runtime"),
        node("runtime", "Pod", "Succeeded", "job", boundaryID="train", **WORKERS),
        node("job", "Pod", "Succeeded", "jobset", boundaryID="train", **WORKERS),
        node("jobset", "Pod", "Succeeded", "workers", boundaryID="train", **WORKERS),
        node("workers", "Pod", "Failed", boundaryID="train", **WORKERS),
        phase="Failed",
        **making("TrainJob"),
    )
    spread["metadata"]["uid"] = "mine-uid"
    spread["status"]["storedWorkflowTemplateSpec"] = {"templates": spread["spec"].pop("templates")}
    cluster.put(spread)
    cluster.objects.put(TRAIN_JOBS, job("train-1a2b", "Failed"))
    cluster.objects.put(JOB_SETS, job("train-1a2b", "Failed", owner="train-1a2b-uid"))
    assert flowdsl(["retry", "mine", "--request-timeout", "0.5"]) == 5
    assert (
        "trainjobs of `mine` are still ending (train-1a2b): nothing else was changed"
        in capsys.readouterr().err
    )
    assert cluster.run["status"]["phase"] == "Failed"
    cluster.objects.drop(f"{JOB_SETS}/train-1a2b")
    assert flowdsl(["retry", "mine"]) == 0
    assert "again: runtime, job, jobset, workers" in capsys.readouterr().out
    assert set(cluster.run["status"]["nodes"]) == {"mine", "train"}


def test_a_run_that_was_stopped_at_a_gate(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    """Argo runs no gate again by itself: the run would end as before, at once."""
    closed = node("release", "Suspend", "Failed", "report")
    rest = (node("report", "Skipped", "Omitted"), node("prepare", "Pod", "Succeeded", "release"))
    cluster.put(workflow(node("mine", "DAG", "Failed", "prepare"), *rest, closed, phase="Failed"))
    assert flowdsl(["retry", "mine"]) == flowdsl(["retry", "mine", "--dry-run"]) == 2
    said = "`mine` has no failed step that runs again by itself, so it would fail as before: name the step"
    assert f"{said} from which it runs again, as in flowdsl retry mine release\n" in capsys.readouterr().err
    assert flowdsl(["retry", "mine", "release"]) == 0
    assert capsys.readouterr().out == "mine: continues; again: release\n"
    assert cluster.run["status"]["nodes"].keys() == {"mine", "prepare"}


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([node("x", "Pod", "Failed", name="mine.onExit")], "its first node is missing"),
        (
            [node("mine", "DAG", "Failed"), node("h", "Pod", "Succeeded", name="mine.hooks.running")],
            "its node mine.hooks.running has no parent, as one of a hook of the whole run",
        ),
    ],
)
def test_what_argo_cannot_retry_is_said(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], nodes: list[Object], said: str
) -> None:
    cluster.put(workflow(*nodes, phase="Failed"))
    before = copy.deepcopy(cluster.run)
    assert flowdsl(["retry", "mine"]) == 2
    assert said in capsys.readouterr().err
    assert cluster.run == before


# --- asking ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "code", "left"), [("n\n", 1, 1), ("", 1, 1), ("y\n", 0, 0)])
def test_a_person_is_asked(
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: str,
    code: int,
    left: int,
) -> None:
    cluster.put(WAITING)
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert flowdsl(["delete", "mine"]) == code
    assert capsys.readouterr().err == "delete mine, which has not ended? [y/N] "
    assert sum(one.startswith(f"{WORKFLOWS}/") for one in cluster.objects.known) == left


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stop"], "name a run, or select several with -l, --status, --older-than or --all"),
        (["stop", "mine", "--all"], "name runs, or select them"),
        (["delete", "--status", "Faild"], "--status Faild: must be one of Pending, Running,"),
        (["delete", "--older-than", "soon"], "--older-than soon: "),
        (["delete", "--older-than", "7", "--yes"], "--older-than 7: write its unit, as in 7s, 7m, 7h or 7d"),
        (["suspend"], "name a run"),
        (["resume", "mine", "-p", "verdict"], "-p verdict: write -p NAME=VALUE"),
    ],
)
def test_wrong_words(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert flowdsl(words) == 2
    assert capsys.readouterr().err.startswith(f"flowdsl: {said}")
    assert cluster.proxy.seen == []


# --- runs on this machine ----------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run on this machine that succeeded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    folder = Path(".flowdsl/runs/mine")
    (folder / "artifacts/locked").mkdir(parents=True)
    (folder / "artifacts/locked/file").write_text("x")
    (folder / "artifacts/locked").chmod(0o500)
    (folder / "workflow.json").write_text(json.dumps(workflow(phase="Succeeded")))
    return folder


def test_delete_of_a_run_here(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here.parent / "other").mkdir()
    assert flowdsl(["delete", "mine", "--dry-run"]) == 0
    assert here.is_dir()
    assert flowdsl(["delete", "mine"]) == 0
    assert capsys.readouterr().out.endswith("mine: deleted .flowdsl/runs/mine\n")
    assert [one.name for one in here.parent.iterdir()] == ["other"]


def test_runs_here_are_deleted_beside_a_cluster(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, phase in (("mine", "Succeeded"), ("other", "Failed")):
        folder = Path(f".flowdsl/runs/{name}")
        folder.mkdir(parents=True)
        document = workflow(phase=phase) | {"metadata": {"name": name}}
        (folder / "workflow.json").write_text(json.dumps(document))
    cluster.put(workflow(phase="Succeeded"))
    Path(".flowdsl/submitted").touch()  # after them
    assert flowdsl(["delete", "--local", "--all", "--dry-run"]) == 0
    assert capsys.readouterr().out == (
        "would delete .flowdsl/runs/mine (Succeeded)\nwould delete .flowdsl/runs/other (Failed)\n"
    )
    assert flowdsl(["delete", "--local", "--status", "Failed"]) == 0
    assert flowdsl(["delete", "--local", "other"]) == 2
    assert flowdsl(["delete", "--local", "@latest"]) == 0
    assert flowdsl(["delete", "--local", "@latest"]) == 2
    assert flowdsl(["delete", "--local", "--all", "-n", "default"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "other: deleted .flowdsl/runs/other\nmine: deleted .flowdsl/runs/mine\n"
    assert printed.err == (
        "flowdsl: there is no run `other` in .flowdsl/runs (the last ones are mine)\n"
        "flowdsl: there is no run `@latest` in .flowdsl/runs\n"
        "flowdsl: --local is about runs of this folder: leave out what names a cluster or namespace\n"
    )
    assert cluster.proxy.seen == []
    assert cluster.run


def test_a_run_here_that_was_moved_has_the_name_of_its_folder(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here.rename(here.parent / "kept")
    assert flowdsl(["list", "-o", "name"]) == 0
    assert flowdsl(["delete", "--all"]) == 0
    assert capsys.readouterr().out == "kept\nkept: deleted .flowdsl/runs/kept\n"
    assert not list(here.parent.iterdir())


def test_delete_of_a_link_leaves_what_it_leads_to(here: Path) -> None:
    (here.parent / "link").symlink_to(here.absolute())
    assert flowdsl(["delete", "link"]) == 0
    assert (here / "artifacts/locked/file").read_text() == "x"
    assert [one.name for one in here.parent.iterdir()] == ["mine"]


def test_delete_on_a_read_only_disk_names_the_run(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "mkdir", refused)
    assert flowdsl(["delete", "mine"]) == 2
    assert ".flowdsl/runs/mine cannot be deleted: Read-only file system" in capsys.readouterr().err
    assert here.is_dir()


def test_delete_stays_in_the_folder_of_the_runs(here: Path) -> None:
    Path("outside").mkdir()
    Path("outside/workflow.json").write_text((here / "workflow.json").read_text())
    for name in ("../../outside", str(Path("outside").absolute()), "..", "."):
        assert flowdsl(["delete", name, "--yes"]) == 2
    assert Path("outside/workflow.json").is_file()


def test_a_run_here_that_goes_on_is_not_deleted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = os.open(here / "lock", os.O_WRONLY | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert flowdsl(["delete", "mine", "--yes"]) == 2
    finally:
        os.close(lock)
    assert "is going on in another process: end it there, with Ctrl-C" in capsys.readouterr().err
    assert here.is_dir()


def test_a_run_here_that_may_be_taken_up_has_to_be_meant(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "workflow.json").write_text(json.dumps(workflow(phase="Running")))
    assert flowdsl(["delete", "mine"]) == 2
    assert "to delete mine, which has not ended, say --yes" in capsys.readouterr().err
    assert flowdsl(["delete", "mine", "--yes"]) == 0


@pytest.mark.parametrize("verb", ["stop", "terminate", "suspend", "resume", "retry"])
def test_what_is_not_done_to_a_run_here(here: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl([verb, "mine"]) == 2
    hint = ": flowdsl run FILE --from STEP --of mine runs a step of it again, and what follows"
    ended = f"`mine` is a run on this machine that has ended{hint if verb == 'retry' else ''}"
    assert capsys.readouterr().err == f"flowdsl: {ended}\n"
    (here / "workflow.json").write_text(json.dumps(workflow(phase="Running")))
    assert flowdsl([verb, "mine"]) == 2
    said = "Ctrl-C ends it, and flowdsl run --resume mine continues it, with --approve past what waits for somebody"
    assert capsys.readouterr().err == f"flowdsl: `mine` is a run on this machine: {said}\n"
