"""Jobs of Kubernetes that `resource` templates make: their pods run on this machine, at the same time."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.runtime.local.pods.jobs import why_not
from tests.local.harness import Harness, harness, sh

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

CLAIM = {"name": "met", "persistentVolumeClaim": {"claimName": "met"}}
MOUNT = {"name": "met", "mountPath": "/met"}


def job(source: str, count: int = 3, name: str = "train", **more: Any) -> Json:
    """A template whose Job runs a Python program in each of its pods."""
    container = {
        "name": "main",
        "image": "python",
        "command": ["python"],
        "args": ["-c", textwrap.dedent(source)],
    }
    spec = {
        "completionMode": "Indexed",
        "completions": count,
        "parallelism": count,
        "backoffLimit": 0,
        **more.pop("spec", {}),
        "template": {
            "metadata": {"labels": {"app": "x"}},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{**container, **more.pop("container", {})}],
                **more.pop("pod", {}),
            },
        },
    }
    whole = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}
    resource = {
        "action": "apply",
        "successCondition": f"status.succeeded == {count}",
        "failureCondition": "status.failed > 0",
        "manifest": json.dumps(whole),
        **more.pop("resource", {}),
    }
    return {"resource": resource, **more}


def written(pods: Harness) -> dict[str, str]:
    """The files on the volume that the pods share."""
    return {one.name: one.read_text() for one in (pods.folder / "volumes/met").iterdir()}


MEET = """
    import os, socket, time
    index, (host, port) = int(os.environ["JOB_COMPLETION_INDEX"]), (os.environ["FIRST"], 23571)
    total = index
    if index == 0:
        with socket.create_server(("", port)) as server:
            for _ in range(2):
                other, _ = server.accept()
                total += int(other.recv(10))
                other.close()
    else:
        while True:
            try:
                with socket.create_connection((host, port)) as first:
                    first.sendall(str(index).encode())
                break
            except OSError:
                time.sleep(0.02)
    name = os.environ["HOSTNAME"]
    open(f"/met/{index}", "w").write(f"{total} {os.environ['RANK']} {name}")
"""
RANK = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}


@pytest.mark.parametrize("isolate", [None, False])
def test_the_pods_find_each_other_by_name(tmp_path: Path, isolate: bool | None) -> None:
    env = [{"name": "FIRST", "value": "train-0.meet.ns.svc"}, {"name": "RANK", "valueFrom": RANK}]
    meeting = {"subdomain": "meet", "volumes": [CLAIM]}
    with harness(tmp_path, isolate=isolate, namespace="ns", volumes=tmp_path / "volumes") as pods:
        done = pods.run(job(MEET, container={"env": env, "volumeMounts": [MOUNT]}, pod=meeting))
        assert done == done._replace(
            phase="Succeeded", message="", outputs={"exitCode": "0"}, containers=None
        )
        assert written(pods) == {"0": "3 0 train-0", "1": "1 1 train-1", "2": "2 2 train-2"}


def test_one_that_fails_ends_the_others_and_the_step(tmp_path: Path) -> None:
    source = """
        import os, sys, time
        print("here is", os.environ["JOB_COMPLETION_INDEX"], flush=True)
        if os.environ["JOB_COMPLETION_INDEX"] == "1":
            sys.exit("no good")
        time.sleep(100)
    """
    with harness(tmp_path) as pods:
        done = pods.run(job(source))
        said = "main: Error (exit code 64): failure condition 'status.failed>0' evaluated true"
        assert (done.phase, done.message, done.outputs) == ("Failed", said, {"exitCode": "64"})
        assert pods.log(container="1") == "here is 1\nno good\n"
        again = pods.run(job(source), "two")  # the Job exists, and has failed
        assert (again.phase, again.message, pods.log("two", "1")) == ("Failed", said, "")
        created = pods.run(job(source, resource={"action": "create"}), "three")
        assert created.message.endswith('jobs.batch "train" already exists')


def test_its_deadline_ends_the_pods(tmp_path: Path) -> None:
    reason = [{"name": "why", "valueFrom": {"jsonPath": "{.status.conditions[0].reason}"}}]
    with harness(tmp_path) as pods:
        waits = job("import time; time.sleep(100)", spec={"activeDeadlineSeconds": 1})
        assert pods.run(waits).message.endswith("failure condition 'status.failed>0' evaluated true")
        waits = job(
            "import time; time.sleep(100)",
            name="other",
            spec={"activeDeadlineSeconds": 1},
            resource={
                "action": "create",
                "successCondition": "status.failed > 0",
                "failureCondition": "",
            },
            outputs={"parameters": reason},
        )
        done = pods.run(waits, "two")
        assert done.outputs == {"parameters": [{**reason[0], "value": "DeadlineExceeded"}], "exitCode": "0"}


def test_a_step_that_is_stopped_ends_its_pods(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        pods.start(job("import time; print('up', flush=True); time.sleep(100)"))
        pods.running()
        pods.stop(message="Step exceeded its deadline")
        assert pods.ended()["one"].message == "Step exceeded its deadline"


def test_results_are_read_off_the_object(tmp_path: Path) -> None:
    paths = {"count": "{.status.succeeded}", "done": "{.status.completedIndexes}", "name": "{.metadata.name}"}
    wanted = [{"name": name, "valueFrom": {"jsonPath": path}} for name, path in paths.items()]
    with harness(tmp_path) as pods:
        done = pods.run(job("", 2, outputs={"parameters": wanted}))
        assert done.outputs is not None
        assert [one["value"] for one in done.outputs["parameters"]] == ["2", "0,1", "train"]


def test_an_empty_folder_is_each_pods_own(tmp_path: Path) -> None:
    source = """
        import os
        assert not os.listdir("/own")
        open("/own/x", "w").close()
        open("/met/" + os.environ["JOB_COMPLETION_INDEX"], "w").write(str(os.listdir("/own")))
    """
    mounts = [MOUNT, {"name": "own", "mountPath": "/own"}]
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        volumes: list[Json] = [CLAIM, {"name": "own", "emptyDir": {}}]
        done = pods.run(job(source, container={"volumeMounts": mounts}, pod={"volumes": volumes}))
        assert done.phase == "Succeeded", pods.log(container="0")
        assert written(pods) == dict.fromkeys("012", "['x']")


def test_each_pod_has_gpus_of_its_own(tmp_path: Path) -> None:
    source = "import os; print(os.environ['CUDA_VISIBLE_DEVICES'])"
    asked = {"resources": {"limits": {"nvidia.com/gpu": 2}}}
    with harness(tmp_path, gpus=4) as pods:
        pods.run(job(source, 2, container=asked))
        assert [pods.log(container=str(number)) for number in range(2)] == ["0,1\n", "2,3\n"]
    with harness(tmp_path / "few", gpus=3) as pods:
        pods.run(job(source, 2, container=asked))
        assert [pods.log(container=str(number)) for number in range(2)] == ["0,1,2\n"] * 2


def test_jobs_that_listen_run_one_after_the_other(tmp_path: Path) -> None:
    source = """
        import os, time
        path = "/met/" + os.environ["JOB"]
        open(path, "w").close()
        time.sleep(0.2)
        assert len(os.listdir("/met")) == 1
        os.remove(path)
    """
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        for name in ("a", "b", "c"):
            container = {"env": [{"name": "JOB", "value": name}], "volumeMounts": [MOUNT]}
            meeting = {"subdomain": name, "volumes": [CLAIM]}
            pods.start(job(source, 1, name, container=container, pod=meeting), name)
        assert {one.phase for one in pods.ended(3).values()} == {"Succeeded"}


@pytest.mark.parametrize(
    ("restart", "failure", "phase"),
    [
        ("OnFailure", "status.failed > 0", "Succeeded"),  # it restarts in the same pod
        ("Never", "status.failed > 0", "Failed"),
        ("Never", "status.failed > 1", "Succeeded"),
    ],
)
def test_a_pod_is_tried_again_as_often_as_the_job_says(
    tmp_path: Path, restart: str, failure: str, phase: str
) -> None:
    source = """
        import os, sys
        path = "/met/tried"
        if not os.path.exists(path):
            open(path, "w").close()
            sys.exit(1)
    """
    again: Json = {
        "spec": {"backoffLimit": 1},
        "container": {"volumeMounts": [MOUNT]},
        "pod": {"volumes": [CLAIM], "restartPolicy": restart},
        "resource": {"failureCondition": failure},
    }
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        done = pods.run(job(source, 1, **again))
        shown = failure.replace(" ", "")
        said = f"main: Error (exit code 64): failure condition '{shown}' evaluated true"
        assert (done.phase, done.message) == (phase, said if phase == "Failed" else "")


def test_each_try_that_failed_counts(tmp_path: Path) -> None:
    again: Json = {"spec": {"backoffLimit": 2}, "resource": {"failureCondition": "status.failed > 2"}}
    with harness(tmp_path) as pods:
        done = pods.run(job("raise SystemExit(1)", 1, **again))
        assert done.message.endswith("failure condition 'status.failed>2' evaluated true")


def test_a_service_is_there_at_once_and_what_is_over_can_be_changed(tmp_path: Path) -> None:
    service = json.dumps({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {}})
    ended = json.dumps(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"suspend": True}}
    )
    with harness(tmp_path) as pods:
        assert pods.run({"resource": {"action": "apply", "manifest": service}}).phase == "Succeeded"
        assert pods.run({"resource": {"action": "patch", "manifest": ended}}, "two").phase == "Succeeded"


def test_a_job_whose_end_is_no_condition_would_be_waited_for(tmp_path: Path) -> None:
    with harness(tmp_path) as pods:
        done = pods.run(job("", 2, resource={"successCondition": "status.succeeded == 3"}))
        said = "'status.succeeded == 3' is not true of the Job, which has ended: Argo would wait for ever"
        assert done.message == f"main: Error (exit code 64): {said}"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"successCondition": None}, "starts a Job that it does not wait for"),
        ({"action": "get"}, "asks a cluster for an object"),
        ({"manifest": "{apiVersion: apps/v1, kind: Deployment}"}, "applies an object to a cluster"),
        ({"manifest": None, "flags": ["pods"]}, "applies an object to a cluster"),
        ({"manifest": "{{inputs.parameters.x}}"}, "applies an object to a cluster"),
    ],
)
def test_what_is_not_played(change: Json, why: str) -> None:
    assert why_not({"resource": {**job("")["resource"], **change}}) == why


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"spec": {"parallelism": 1}}, "starts a Job whose pods run one after the other"),
        ({"spec": {"suspend": True}}, "makes a Job that does not begin"),
        ({"pod": {"initContainers": [{"name": "i"}]}}, "starts a Job whose pods have several containers"),
        (
            {
                "outputs": {
                    "parameters": [{"name": "x", "valueFrom": {"jsonPath": "{.status.conditions[*].type}"}}]
                }
            },
            "reads a part of a Job by a path that only kubectl follows",
        ),
    ],
)
def test_jobs_that_are_not_played(more: Json, why: str) -> None:
    assert why_not(job("", **more)) == why


def test_other_pods_run_beside(tmp_path: Path) -> None:
    with harness(tmp_path, python=sys.executable) as pods:
        pods.start(job("import time; time.sleep(0.3)", 2))
        assert pods.run(sh("echo hello"), "two", result=True).outputs == {"result": "hello", "exitCode": "0"}


def test_the_deadline_counts_while_a_job_waits_for_room(tmp_path: Path) -> None:
    with harness(tmp_path, cpu=1.0) as pods:
        busy = {"resources": {"requests": {"cpu": "1"}}}
        pods.start(sh("sleep 2", **busy))
        pods.running()
        late = job("", 1, container=busy, spec={"activeDeadlineSeconds": 1})
        pods.start(late, "two")
        assert pods.ended(2)["two"].message.endswith("failure condition 'status.failed>0' evaluated true")


def test_names_are_replaced_as_a_whole_where_there_is_no_hosts_file(tmp_path: Path) -> None:
    source = "import os; print(os.environ['SEEN'])"
    seen = (
        "train-0.train:29500,train-0.train http://train.ns/x train:80 /opt/train.py train.py -m train train/x"
    )
    container = {"env": [{"name": "SEEN", "value": seen}]}
    with harness(tmp_path, isolate=False, namespace="ns") as pods:
        assert pods.run(job(source, 1, container=container, pod={"subdomain": "train"})).phase == "Succeeded"
        here = "127.0.0.1"
        assert pods.log(container="0") == (
            f"{here}:29500,{here} http://{here}/x {here}:80 /opt/train.py train.py -m train train/x\n"
        )


def test_a_job_that_is_deleted_ends_and_can_be_made_again(tmp_path: Path) -> None:
    gone = json.dumps(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": {"suspend": True}}
    )
    with harness(tmp_path) as pods:
        for number, action in enumerate(("patch", "delete")):
            pods.start(job("import time; time.sleep(100)"), f"run{number}")
            pods.running()
            pods.start({"resource": {"action": action, "manifest": gone}}, f"end{number}")
            ended = pods.ended(2)
            assert (ended[f"run{number}"].phase, ended[f"end{number}"].phase) == ("Failed", "Succeeded")
            pods.run({"resource": {"action": "delete", "manifest": gone}}, f"gone{number}")
        assert pods.run(job("")).phase == "Succeeded"


def test_braces_in_a_program_are_left_alone(tmp_path: Path) -> None:
    source = """
        rate = 3
        print(f"{{{rate}}} and {{x}}", {"a": {"b": 1}})
    """
    with harness(tmp_path) as pods:
        assert pods.run(job(source, 1)).phase == "Succeeded"
        assert pods.log(container="0") == "{3} and {x} {'a': {'b': 1}}\n"
