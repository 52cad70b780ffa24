"""TrainJobs of Kubeflow's Trainer that `resource` templates begin: their pods run on this machine."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.runtime.local.controller.events import PodEnded
from flowdsl.runtime.local.honoured import Asked, judged
from flowdsl.runtime.local.pods.train_jobs import job_set
from tests.local.harness import harness
from tests.local.test_pods_operators import replica

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
TRAINER, JOBSET = "trainer.kubeflow.org/v1alpha1", "jobset.x-k8s.io/v1alpha2"
SHOW = """
    import os
    names = "HOSTNAME", "PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_PORT", "RATE"
    with open(f"/met/{os.environ['PET_NODE_RANK']}", "w") as file:
        file.write(" ".join(os.environ[name] for name in names))
    assert os.environ["PET_MASTER_ADDR"] in ("train-node-0-0.train", "127.0.0.1")
"""
DONE = "status.terminalState == Completed", "status.terminalState == Failed"


def resource(version: str, kind: str, spec: Json | None, action: str = "apply", **more: Any) -> Json:
    """A template about an object."""
    name = "torch" if kind == "TrainingRuntime" else "train"
    whole = {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
    manifest = json.dumps(whole if spec is None else {**whole, "spec": spec})
    return {"resource": {"action": action, "manifest": manifest, **more}}


def runtime(source: str, **more: Any) -> Json:
    """A template of the TrainingRuntime, which defines the pods."""
    template = replica(source, 1)["template"]
    template["spec"]["containers"][0]["name"] = "node"
    template["spec"]["restartPolicy"] = "Never"
    job = {"backoffLimit": 0, "template": template}
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    jobs = [{"name": "node", "template": {"metadata": {"labels": labels}, "spec": job}}]
    policy = {"numNodes": 1, "torch": {"numProcPerNode": "auto"}, **more}
    spec = {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": jobs}}}
    return resource(TRAINER, "TrainingRuntime", spec)


def training(conditions: tuple[str, str] | None = None, action: str = "apply", **more: Any) -> Json:
    """A template of the TrainJob, which starts the pods."""
    said = {"numNodes": 2, "numProcPerNode": 3, "env": [{"name": "RATE", "value": "0.5"}]}
    spec = {"runtimeRef": {"kind": "TrainingRuntime", "name": "torch"}, "trainer": said, **more}
    return resource(TRAINER, "TrainJob", spec, action, **waits(conditions))


def waits(conditions: tuple[str, str] | None) -> Json:
    return dict(zip(("successCondition", "failureCondition"), conditions, strict=True)) if conditions else {}


def asked(conditions: tuple[str, str] | None = None, kind: str = "JobSet") -> Json:
    """A template that gets the resulting object."""
    return resource(JOBSET if kind == "JobSet" else TRAINER, kind, None, "get", **waits(conditions))


@pytest.mark.parametrize("isolate", [None, False])
def test_the_pods_of_a_trainjob_run_while_something_waits_for_its_jobset(
    tmp_path: Path, isolate: bool | None
) -> None:
    with harness(tmp_path, isolate=isolate, volumes=tmp_path / "volumes") as pods:
        for number, template in enumerate((runtime(SHOW), training(), asked())):
            assert pods.run(template, str(number)).phase == "Succeeded"
        assert not (tmp_path / "volumes/met").exists()
        done = pods.run(asked(DONE), "workers")
        assert (done.phase, done.message) == ("Succeeded", ""), pods.log("workers", "node-0")
        assert pods.run(asked(DONE), "again").phase == "Succeeded"  # it has already ended
    found = {one.name: one.read_text() for one in (tmp_path / "volumes/met").iterdir()}
    assert found == {str(rank): f"train-node-0-{rank} 2 3 {rank} 29500 0.5" for rank in range(2)}


def test_several_may_wait_for_the_same(tmp_path: Path) -> None:
    slow = "import time; time.sleep(0.5)"
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        for number, template in enumerate((runtime(slow), training())):
            pods.run(template, str(number))
        for name in ("one", "two", "three"):
            pods.start(asked(DONE), name)
        pods.stop("three", "enough")
        ended = [pods.event() for _ in range(6)]
    found = {one.node: one.outcome for one in ended if isinstance(one, PodEnded)}
    assert {node.removeprefix("wf-"): one.phase for node, one in found.items()} == {
        "one": "Succeeded",
        "two": "Succeeded",
        "three": "Failed",
    }


def test_a_trainjob_may_be_waited_for_itself(tmp_path: Path) -> None:
    conditions = "status.jobsStatus.0.succeeded == 1", "status.jobsStatus.0.failed > 0"
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        assert pods.run(runtime(SHOW), "runtime").phase == "Succeeded"
        assert pods.run(training(conditions), "train").phase == "Succeeded"
        assert pods.run(asked(("status.conditions.0.type == Complete", "x"), "TrainJob"), "seen").phase == (
            "Succeeded"
        )
        there = pods.run(training(action="create"), "twice").message
    assert there.endswith('(AlreadyExists): trainjobs.trainer.kubeflow.org "train" already exists')


def test_a_pod_that_fails_fails_the_jobset_of_its_trainjob(tmp_path: Path) -> None:
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        for number, template in enumerate((runtime("import sys; sys.exit(3)"), training())):
            pods.run(template, str(number))
        said = pods.run(asked(DONE), "workers").message
        assert said.endswith("failure condition 'status.terminalState==Failed' evaluated true")
        failed = "status.conditions.0.type == Complete", "status.conditions.0.type == Failed"
        assert "evaluated true" in pods.run(asked(failed, "TrainJob"), "seen").message


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    with harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        early = pods.run(training(), "early").message
        assert "specified trainingRuntime must be created before the TrainJob is created" in early
        assert pods.run(asked(), "no").message == (
            'main: Error (exit code 64): Error from server (NotFound): jobsets.jobset.x-k8s.io "train" not found'
        )
        assert pods.run(runtime(SHOW), "runtime").phase == "Succeeded"
        assert pods.run(training(), "train").phase == "Succeeded"
        assert pods.run(resource(TRAINER, "TrainJob", None, "delete"), "gone").phase == "Succeeded"
        assert "(NotFound)" in pods.run(asked(), "deleted").message


def changed(given: Json, **fields: Any) -> Json:
    """A template with a changed manifest: `fields` replace those of its spec."""
    found = copy.deepcopy(given)
    manifest = json.loads(found["resource"]["manifest"])
    manifest["spec"] |= fields
    found["resource"]["manifest"] = json.dumps(manifest)
    return found


WITHOUT = [
    ([runtime(SHOW), training(), asked(DONE)], ""),
    ([runtime(SHOW), training(), asked(), asked(DONE, "TrainJob")], ""),
    ([runtime(SHOW), training()], "a TrainJob that nothing waits for"),
    ([runtime(SHOW), training(), asked()], "a TrainJob that nothing waits for"),
    ([training(DONE)], "a TrainJob whose TrainingRuntime is in a cluster"),
    ([asked(DONE)], "asks a cluster for an object"),
    ([runtime(SHOW, mpi={})], "a TrainingRuntime of `mpi`, whose processes the Trainer starts"),
    ([runtime(SHOW), training(DONE, runtimeRef={"name": "torch"})], "are described in a cluster"),
    ([runtime(SHOW), training(DONE, suspend=True)], "a TrainJob that does not begin"),
    ([runtime(SHOW), training(DONE, initializer={"model": {}})], "fetches data or a model first"),
    ([runtime(SHOW), training(DONE, podSpecOverrides=[{}])], "changes the pods of its runtime"),
    (
        [changed(runtime(SHOW), template={"spec": {"failurePolicy": {"maxRestarts": 1}}})],
        "begins again when one of its Jobs fails",
    ),
]


@pytest.mark.parametrize(("templates", "why"), WITHOUT)
def test_which_trainjobs_are_played(templates: list[Json], why: str) -> None:
    steps = [[{"name": f"s{number}", "template": f"t{number}"}] for number in range(len(templates))]
    named = [{"name": f"t{number}", **one} for number, one in enumerate(templates)]
    spec = {"entrypoint": "main", "templates": [{"name": "main", "steps": steps}, *named]}
    said = judged({"metadata": {"name": "run"}, "spec": spec}, [], Asked()).refusals
    assert (why in "\n".join(said)) if why else said == []


def test_a_trainjob_says_what_its_container_is() -> None:
    said = {"image": "other", "command": ["a"], "args": ["b"], "resourcesPerNode": {"limits": {"cpu": "1"}}}
    found, template = (
        json.loads(one["resource"]["manifest"]) for one in (training(trainer=said), runtime(""))
    )
    (job,) = job_set(found, template)["spec"]["replicatedJobs"]
    (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
    assert {field: container[field] for field in ("image", "command", "args", "resources")} == {
        "image": "other",
        "command": ["a"],
        "args": ["b"],
        "resources": {"limits": {"cpu": "1"}},
    }
    assert job["template"]["spec"]["completions"] == 1  # as in the runtime
