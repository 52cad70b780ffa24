"""Objects of training operators that `resource` templates make: their pods run on this machine."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.runtime.local.pods import workloads_training
from flowdsl.runtime.local.pods.jobs import why_not
from tests.local.harness import harness

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

CLAIM = {"name": "met", "persistentVolumeClaim": {"claimName": "met"}}
MOUNT = {"name": "met", "mountPath": "/met"}


def replica(source: str, count: int, **more: Any) -> Json:
    """The replica spec of a role whose pods run a Python program."""
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


def applied(version: str, kind: str, spec: Json, success: str, failure: str, **more: Any) -> Json:
    """A template that applies an object, and waits for its conditions."""
    whole = {"apiVersion": version, "kind": kind, "metadata": {"name": "train"}, "spec": spec}
    resource = {
        "action": "apply",
        "successCondition": success,
        "failureCondition": failure,
        "manifest": json.dumps(whole),
        **more.pop("resource", {}),
    }
    return {"resource": resource, **more}


def torch_job(replicas: dict[str, Json], **more: Any) -> Json:
    """A template of a PyTorchJob with these replicas, which waits for its Master."""
    spec = {"pytorchReplicaSpecs": replicas, **more.pop("spec", {})}
    statuses = "status.replicaStatuses"
    conditions = f"{statuses}.Master.succeeded == 1", f"{statuses}.Worker.failed > 0"
    return applied("kubeflow.org/v1", "PyTorchJob", spec, *conditions, **more)


def tf_job(replicas: dict[str, Json], success: str, **more: Any) -> Json:
    """A template of a TFJob with these replicas."""
    spec = {"tfReplicaSpecs": replicas, **more.pop("spec", {})}
    return applied(
        "kubeflow.org/v1", "TFJob", spec, success, "status.replicaStatuses.Worker.failed > 0", **more
    )


def job_set(jobs: dict[str, Json], **more: Any) -> Json:
    """A template of a JobSet with these Jobs."""
    inner = [{"name": name, "replicas": 1, "template": {"spec": job}} for name, job in jobs.items()]
    spec = {"replicatedJobs": inner, **more.pop("spec", {})}
    success, failure = (f"status.terminalState == {word}" for word in ("Completed", "Failed"))
    return applied("jobset.x-k8s.io/v1alpha2", "JobSet", spec, success, failure, **more)


def indexed(source: str, count: int, **more: Any) -> Json:
    """An Indexed Job, whose pods know their numbers."""
    template = replica(source, count, **more)["template"]
    template["spec"]["restartPolicy"] = "Never"
    return {
        "completionMode": "Indexed",
        "completions": count,
        "parallelism": count,
        "backoffLimit": 0,
        "template": template,
    }


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


@pytest.mark.parametrize(
    ("isolate", "spec", "size", "each"),
    [(None, {"nprocPerNode": "2"}, 6, "2"), (False, {}, 3, "auto")],
    ids=["isolated", "here"],
)
def test_the_pods_are_told_how_they_find_each_other(
    tmp_path: Path, isolate: bool | None, spec: Json, size: int, each: str
) -> None:
    port = {"name": "pytorchjob-port", "containerPort": 23572}
    more = {"env": [{"name": "ROLE", "valueFrom": ROLE}], "ports": [port]}
    replicas = {"Master": replica(MEET, 1, container=more), "worker": replica(MEET, 2, container=more)}
    with harness(tmp_path, isolate=isolate, namespace="ns", volumes=tmp_path / "volumes") as pods:
        done = pods.run(torch_job(replicas, spec=spec))
        assert (done.phase, done.message) == ("Succeeded", ""), pods.log(container="master-0")
    found = {one.name: one.read_text() for one in (tmp_path / "volumes/met").iterdir()}
    assert found == {
        "0": f"train-master-0 {size} 3 0 {each} master",
        "1": f"train-worker-0 {size} 3 1 {each} worker",
        "2": f"train-worker-1 {size} 3 2 {each} worker",
    }


def test_one_that_fails_ends_the_others_and_the_step(tmp_path: Path) -> None:
    replicas = {
        "Master": replica("import time; time.sleep(100)", 1),
        "Worker": replica("import os, sys; sys.exit('no good' if os.environ['RANK'] == '1' else 0)", 2),
    }
    reason = [{"name": "why", "valueFrom": {"jsonPath": "{.status.conditions[0].type}"}}]
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        done = pods.run(torch_job(replicas))
        said = "failure condition 'status.replicaStatuses.Worker.failed>0' evaluated true"
        assert (done.phase, done.message) == ("Failed", f"main: Error (exit code 64): {said}")
        assert pods.log(container="worker-0") == "no good\n"
        seen = {"action": "apply", "successCondition": "status.completionTime", "failureCondition": ""}
        again = pods.run(torch_job(replicas, resource=seen, outputs={"parameters": reason}), "two")
        assert again.outputs == {"parameters": [{**reason[0], "value": "Failed"}], "exitCode": "0"}
        created = pods.run(torch_job(replicas, resource={"action": "create"}), "three")
        assert created.message.endswith('pytorchjobs.kubeflow.org "train" already exists')


WAITED = "'status.replicaStatuses.Master.succeeded == 1' is not true of the PyTorchJob, which has ended"


@pytest.mark.parametrize(
    ("restart", "limit", "message"),
    [
        ("OnFailure", 2, ""),
        (
            "OnFailure",
            1,
            WAITED,
        ),  # the operator deletes the pod with the first restart, and counts no failure
        ("Never", 2, "failure condition 'status.replicaStatuses.Master.failed>0' evaluated true"),
    ],
)
def test_a_pod_is_tried_again_as_often_as_its_policy_says(
    tmp_path: Path, restart: str, limit: int, message: str
) -> None:
    source = """
        import os, sys
        try:
            os.mkdir("/met/tried")
            sys.exit(1)
        except FileExistsError:
            pass
    """
    again = {"Master": replica(source, 1, restartPolicy=restart)}
    failure = {"failureCondition": "status.replicaStatuses.Master.failed > 0"}
    template = torch_job(again, spec={"runPolicy": {"backoffLimit": limit}}, resource=failure)
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        done = pods.run(template)
        assert message in done.message
        assert done.phase == ("Failed" if message else "Succeeded")


@pytest.mark.parametrize(
    ("source", "policy"),
    [
        ("import time; time.sleep(100)", {"activeDeadlineSeconds": 1}),
        ("import sys; sys.exit(1)", {"backoffLimit": 0}),
    ],
)
def test_a_limit_of_the_operator_is_not_told_by_the_counts(tmp_path: Path, source: str, policy: Json) -> None:
    failure = {"failureCondition": "status.replicaStatuses.Master.failed > 0"}
    template = torch_job({"Master": replica(source, 1)}, spec={"runPolicy": policy}, resource=failure)
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        assert WAITED in pods.run(template).message


def test_pods_without_a_limit_are_begun_again_until_they_succeed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workloads_training, "_PAUSE", 0.2)
    source = """
        import os, sys, time
        open(f"/met/{os.environ['RANK']}-{time.monotonic_ns()}", "w").close()
        times = sorted(one for one in os.listdir("/met") if one.startswith("0-"))
        sys.exit(0 if len(times) > 2 and os.environ["RANK"] == "0" else 1)
    """
    again = {
        "Master": replica(source, 1, restartPolicy=None),
        "Worker": replica(source, 1, restartPolicy=None),
    }
    spec = {"runPolicy": {"cleanPodPolicy": "Running"}}
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        done = pods.run(torch_job(again, spec=spec))
        assert (done.phase, done.message) == ("Succeeded", "")
        (notice, *_) = (one for one in pods.pods.notices if "master-0" in one)
    assert "begun again after 0.2 seconds, as often as it fails: its object has no `backoffLimit`" in notice
    assert len([*(tmp_path / "volumes/met").glob("0-*")]) == 3


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
            {
                "Master": replica("", 1, restartPolicy="OnFailure"),
                "Worker": replica("", 2, restartPolicy=None),
            },
            {},
            "",
        ),
        (
            {"Master": replica("", 1, restartPolicy="ExitCode")},
            {},
            "starts a PyTorchJob whose pods are tried again without a limit",
        ),
        (
            {"Master": replica("", 1), "Worker": replica("", 1, restartPolicy="OnFailure")},
            {},
            "starts a PyTorchJob only some of whose pods are tried again",
        ),
        (
            {"Master": replica("", 1), "Worker": replica("", 1, restartPolicy="OnFailure")},
            {"runPolicy": {"backoffLimit": 3}},
            "starts a PyTorchJob only some of whose pods are tried again",
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


SERVE = """
    import json, os, socket, time
    config = json.loads(os.environ["TF_CONFIG"])
    role, index = config["task"]["type"], config["task"]["index"]
    host, _, port = config["cluster"][role][index].rpartition(":")
    with open(f"/met/{role}-{index}", "w") as file:
        file.write(host)
    with socket.create_server(("", int(port))) as server:
        while role != "chief":
            server.accept()
        for place in config["cluster"]["worker"] + config["cluster"]["ps"]:
            host, _, port = place.rpartition(":")
            while True:
                try:
                    socket.create_connection((host, int(port))).close()
                    break
                except OSError:
                    time.sleep(0.02)
"""


@pytest.mark.parametrize("isolate", [None, False])
def test_the_chief_of_a_tfjob_ends_those_that_serve_for_ever(tmp_path: Path, isolate: bool | None) -> None:
    replicas = {"Chief": replica(SERVE, 1), "Worker": replica(SERVE, 2), "PS": replica(SERVE, 1)}
    counts = [{"name": "counts", "valueFrom": {"jsonPath": "{.status.replicaStatuses}"}}]
    spec = {"runPolicy": {"cleanPodPolicy": "Running"}}
    with harness(tmp_path, isolate=isolate, namespace="ns", volumes=tmp_path / "volumes") as pods:
        chief = "status.replicaStatuses.Chief.succeeded == 1"
        done = pods.run(tf_job(replicas, chief, spec=spec, outputs={"parameters": counts}))
        assert (done.phase, done.message) == ("Succeeded", ""), pods.log(container="chief-0")
    assert done.outputs is not None
    assert json.loads(done.outputs["parameters"][0]["value"]) == {
        "Chief": {"succeeded": 1},
        "Worker": {"succeeded": 2},
        "PS": {"succeeded": 1},
    }
    found = {one.name: one.read_text() for one in (tmp_path / "volumes/met").iterdir()}
    assert found.keys() == {"chief-0", "worker-0", "worker-1", "ps-0"}
    if isolate is None:
        assert found["worker-1"] == "train-worker-1.ns.svc"


@pytest.mark.parametrize(
    ("policy", "phase"),
    [({}, "Succeeded"), ({"successPolicy": "AllWorkers"}, "Failed")],
    ids=["first", "all"],
)
def test_a_tfjob_without_a_chief_succeeds_with_its_workers(tmp_path: Path, policy: Json, phase: str) -> None:
    source = """
        import fcntl, json, os, sys, time
        first = json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 0
        while not first and not os.path.exists("/met/held"):
            time.sleep(0.02)
        lock = open("/met/lock", "w")
        fcntl.flock(lock, fcntl.LOCK_EX)  # of the first, until its process has ended
        open("/met/held", "w").close()
        time.sleep(0 if first else 0.2)  # until the end of the first is known
        sys.exit(0 if first else 1)
    """
    seen = "status.conditions.0.type == Succeeded"
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        spec = {**policy, "runPolicy": {"cleanPodPolicy": "None"}}
        done = pods.run(
            tf_job({"Worker": replica(source, 2)}, seen, spec=spec, resource={"failureCondition": ""})
        )
    assert done.phase == phase


def test_a_variable_of_that_name_may_come_from_elsewhere(tmp_path: Path) -> None:
    source = "import os; assert os.environ['TF_CONFIG'] == 'train-0'"
    name = {"name": "TF_CONFIG", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    other = {"name": "TF_CONFIG", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b", "optional": True}}}
    seen = "status.succeeded == 1"
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        job = indexed(source, 1, container={"env": [other, name]})
        done = pods.run(applied("batch/v1", "Job", job, seen, "status.failed > 0"))
        assert (done.phase, done.message) == ("Succeeded", ""), pods.log(container="0")


def test_one_pod_of_a_tfjob_alone_is_told_nothing(tmp_path: Path) -> None:
    source = "import os; assert 'TF_CONFIG' not in os.environ"
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        done = pods.run(
            tf_job({"Worker": replica(source, 1)}, "status.replicaStatuses.Worker.succeeded == 1")
        )
        assert done.phase == "Succeeded", pods.log(container="worker-0")


GATHER = """
    import os, socket, time
    number, place = int(os.environ["JOB_COMPLETION_INDEX"]), ("train-worker-0-0.train", 23576)
    if number == 0:
        with socket.create_server(("", place[1])) as server:
            server.accept()[0].close()
    while number:
        try:
            socket.create_connection(place).close()
            break
        except OSError:
            time.sleep(0.02)
    with open(f"/met/{number}", "w") as file:
        file.write(" ".join(os.environ[name] for name in ("HOSTNAME", "ROLE")))
"""


@pytest.mark.parametrize("isolate", [None, False])
def test_the_pods_of_a_jobset_find_each_other(tmp_path: Path, isolate: bool | None) -> None:
    role = {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/replicatedjob-name']"}}
    more = {
        "env": [{"name": "ROLE", "valueFrom": role}, {"name": "FIRST", "value": "train-worker-0-0.train:1"}]
    }
    source = GATHER if isolate is None else GATHER.replace("train-worker-0-0.train", "127.0.0.1")
    with harness(tmp_path, isolate=isolate, volumes=tmp_path / "volumes") as pods:
        done = pods.run(job_set({"worker": indexed(source, 2, container=more)}))
        assert (done.phase, done.message) == ("Succeeded", ""), pods.log(container="worker-0")
    found = {one.name: one.read_text() for one in (tmp_path / "volumes/met").iterdir()}
    assert found == {"0": "train-worker-0-0 worker", "1": "train-worker-0-1 worker"}


def test_a_pod_that_fails_fails_its_jobset(tmp_path: Path) -> None:
    jobs = {
        "driver": indexed("import time; time.sleep(100)", 1),
        "worker": indexed("import sys; sys.exit(3)", 2),
    }
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        done = pods.run(job_set(jobs))
    said = "failure condition 'status.terminalState==Failed' evaluated true"
    assert (done.phase, done.message) == ("Failed", f"main: Error (exit code 64): {said}")


def test_the_jobs_that_decide_end_the_others_of_a_jobset(tmp_path: Path) -> None:
    jobs = {"driver": indexed("", 1), "worker": indexed("import time; time.sleep(100)", 2)}
    policy = {"successPolicy": {"operator": "All", "targetReplicatedJobs": ["driver"]}}
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        assert pods.run(job_set(jobs, spec=policy)).phase == "Succeeded"


def mpi_job(replicas: dict[str, Json], **more: Any) -> Json:
    """A template of an MPIJob with these replicas."""
    spec = {"slotsPerWorker": 2, "mpiReplicaSpecs": replicas, **more.pop("spec", {})}
    conditions = (f"status.replicaStatuses.Launcher.{word}" for word in ("succeeded == 1", "failed > 0"))
    return applied("kubeflow.org/v2beta1", "MPIJob", spec, *conditions, **more)


def test_the_launcher_of_an_mpijob_has_what_its_workers_have(tmp_path: Path) -> None:
    source = """
        import os, sys
        open("/met/seen", "w").write(os.environ["K_MPI_JOB_ROLE"])
        sys.exit(0 if os.path.isdir("/dev/shm") and os.path.isdir("/own") else 3)
    """
    launcher = replica(source, 1, pod={"volumes": [{"name": "own", "emptyDir": {}}]})
    (container,) = launcher["template"]["spec"]["containers"]
    container["volumeMounts"] = [{"name": "own", "mountPath": "/own"}]
    worker = replica("", 2)
    del worker["template"]["spec"]["containers"][0]["command"]
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        done = pods.run(mpi_job({"Launcher": launcher, "Worker": worker}))
        assert (done.phase, done.message) == ("Succeeded", "")
        launcher["template"]["spec"]["containers"][0]["args"] = ["-c", "raise SystemExit(1)"]
        policy = {"runPolicy": {"backoffLimit": 0}}
        failed = mpi_job({"Launcher": launcher, "Worker": worker}, spec=policy)
        failed["resource"]["manifest"] = failed["resource"]["manifest"].replace('"train"', '"other"')
        assert "'status.replicaStatuses.Launcher.failed>0' evaluated true" in pods.run(failed, "two").message
    assert (tmp_path / "volumes/met/seen").read_text() == "launcher"


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (mpi_job({"Launcher": replica("", 1), "Worker": replica("", 1)}), ""),
        (
            mpi_job({"Launcher": replica("", 1)}, spec={"mpiImplementation": "Intel"}),
            "another implementation",
        ),
        (mpi_job({"Worker": replica("", 1)}), "without a Launcher"),
        (tf_job({"Worker": replica("", 1)}, "x"), ""),
        (tf_job({"Worker": replica("", 1)}, "x", spec={"enableDynamicWorker": True}), "workers come and go"),
        (tf_job({"Worker": replica("", 1), "PS": replica("", 1)}, "x"), "parameter servers nothing ends"),
        (tf_job({"Worker": replica("", 1, restartPolicy="Always")}, "x"), "tried again without a limit"),
        (tf_job({"Worker": replica("", 1, restartPolicy=None)}, "x"), ""),
        (tf_job({"Worker": replica("", 1, restartPolicy="OnFailure")}, "x"), ""),
        (job_set({"worker": indexed("", 2)}), ""),
        (job_set({"worker": indexed("", 2)}, spec={"failurePolicy": {"maxRestarts": 2}}), "begins again"),
        (job_set({"worker": indexed("", 2)}, spec={"suspend": True}), "does not begin"),
        (
            job_set({"worker": indexed("", 2)}, spec={"successPolicy": {"operator": "Any"}}),
            "ends with the first",
        ),
        (
            job_set({"worker": indexed("", 2)}, spec={"startupPolicy": {"startupPolicyOrder": "InOrder"}}),
            "one after the other",
        ),
        (
            job_set({"a": indexed("", 1), "b": {**indexed("", 1), "backoffLimit": 2}}),
            "limits of their own",
        ),
        (job_set({"worker": {**indexed("", 2), "parallelism": 1}}), "run one after the other"),
    ],
)
def test_which_others_are_not_played(template: Json, why: str) -> None:
    said = why_not(template)
    assert why in said if why else said == ""
