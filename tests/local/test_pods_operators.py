"""Objects of training operators that `resource` templates make: their pods run on this machine."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.runtime.local.pods.jobs import why_not
from tests.local.house import street

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

CLAIM = {"name": "met", "persistentVolumeClaim": {"claimName": "met"}}
MOUNT = {"name": "met", "mountPath": "/met"}


def replica(source: str, count: int, **more: Any) -> Json:
    """The pods of a role, each of which runs a Python program."""
    container = {
        "name": "pytorch",
        "image": "python",
        "command": ["python"],
        "args": ["-c", textwrap.dedent(source)],
        "volumeMounts": [MOUNT],
        **more.pop("container", {}),
    }
    pod = {"containers": [container], "volumes": [CLAIM], **more.pop("pod", {})}
    return {"replicas": count, "restartPolicy": "Never", "template": {"spec": pod}, **more}


def torch_job(replicas: dict[str, Json], **more: Any) -> Json:
    """A template whose PyTorchJob has such pods, and that waits for its Master."""
    spec = {"pytorchReplicaSpecs": replicas, **more.pop("spec", {})}
    whole = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": spec,
    }
    resource = {
        "action": "apply",
        "successCondition": "status.replicaStatuses.Master.succeeded == 1",
        "failureCondition": "status.replicaStatuses.Worker.failed > 0",
        "manifest": json.dumps(whole),
        **more.pop("resource", {}),
    }
    return {"resource": resource, **more}


MEET = """
    import os, socket, time
    rank, place = int(os.environ["RANK"]), (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    if rank == 0:
        with socket.create_server(("", place[1])) as server:
            for _ in range(2):
                other, _ = server.accept()
                other.close()
    else:
        while True:
            try:
                socket.create_connection(place).close()
                break
            except OSError:
                time.sleep(0.02)
    names = "HOSTNAME", "WORLD_SIZE", "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE"
    with open(f"/met/{rank}", "w") as file:
        file.write(" ".join(os.environ[name] for name in (*names, "ROLE")))
"""
ROLE = {"fieldRef": {"fieldPath": "metadata.labels['training.kubeflow.org/replica-type']"}}


@pytest.mark.parametrize("isolate", [None, False])
def test_the_pods_are_told_how_they_find_each_other(tmp_path: Path, isolate: bool | None) -> None:
    port = {"name": "pytorchjob-port", "containerPort": 23572}
    more = {"env": [{"name": "ROLE", "valueFrom": ROLE}], "ports": [port]}
    replicas = {"Master": replica(MEET, 1, container=more), "worker": replica(MEET, 2, container=more)}
    with street(tmp_path, isolate=isolate, namespace="ns", volumes=tmp_path / "volumes") as pods:
        done = pods.run(torch_job(replicas, spec={"nprocPerNode": "2"}))
        assert (done.phase, done.message) == ("Succeeded", ""), pods.log(container="master-0")
    found = {one.name: one.read_text() for one in (tmp_path / "volumes/met").iterdir()}
    assert found == {
        "0": "train-master-0 6 3 0 2 master",
        "1": "train-worker-0 6 3 1 2 worker",
        "2": "train-worker-1 6 3 2 2 worker",
    }


def test_one_that_fails_ends_the_others_and_the_step(tmp_path: Path) -> None:
    replicas = {
        "Master": replica("import time; time.sleep(100)", 1),
        "Worker": replica("import os, sys; sys.exit('no good' if os.environ['RANK'] == '1' else 0)", 2),
    }
    reason = [{"name": "why", "valueFrom": {"jsonPath": "{.status.conditions[0].type}"}}]
    with street(tmp_path, volumes=tmp_path / "volumes") as pods:
        done = pods.run(torch_job(replicas))
        said = "failure condition 'status.replicaStatuses.Worker.failed > 0' evaluated true"
        assert (done.phase, done.message) == ("Failed", f"main: Error (exit code 64): {said}")
        assert pods.log(container="worker-0") == "no good\n"
        seen = {"action": "apply", "successCondition": "status.completionTime", "failureCondition": ""}
        again = pods.run(torch_job(replicas, resource=seen, outputs={"parameters": reason}), "two")
        assert again.outputs == {"parameters": [{**reason[0], "value": "Failed"}], "exitCode": "0"}
        created = pods.run(torch_job(replicas, resource={"action": "create"}), "three")
        assert created.message.endswith('pytorchjobs.kubeflow.org "train" already exists')


def test_a_pod_is_tried_again_as_often_as_its_policy_says(tmp_path: Path) -> None:
    source = """
        import os, sys
        try:
            os.mkdir("/met/tried")
            sys.exit(1)
        except FileExistsError:
            pass
    """
    again = {"Master": replica(source, 1, restartPolicy="OnFailure")}
    with street(tmp_path, volumes=tmp_path / "volumes") as pods:
        assert pods.run(torch_job(again, spec={"runPolicy": {"backoffLimit": 1}})).phase == "Succeeded"


@pytest.mark.parametrize(
    ("replicas", "spec", "why"),
    [
        ({"Master": replica("", 1)}, {}, ""),
        (
            {"Worker": replica("", 2)},
            {},
            "starts a PyTorchJob whose workers find each other without a Master",
        ),
        (
            {"Master": replica("", 1)},
            {"elasticPolicy": {"minReplicas": 1}},
            "starts a PyTorchJob whose workers find each other without a Master",
        ),
        (
            {"Master": replica("", 1, restartPolicy="OnFailure")},
            {},
            "starts a PyTorchJob whose pods are tried again without a limit",
        ),
        (
            {"Master": replica("", 1)},
            {"runPolicy": {"suspend": True}},
            "makes a PyTorchJob that does not begin",
        ),
        (
            {"Master": replica("", 1, pod={"initContainers": [{"name": "i"}]})},
            {},
            "starts a PyTorchJob whose pods have several containers",
        ),
        (
            {
                "Master": replica("", 1),
                "Worker": replica("", 1, pod={"volumes": [{"name": "met", "emptyDir": {}}]}),
            },
            {},
            "starts a PyTorchJob whose pods have different volumes of one name",
        ),
    ],
)
def test_what_is_not_played(replicas: dict[str, Json], spec: Json, why: str) -> None:
    assert why_not(torch_job(replicas, spec=spec)) == why
