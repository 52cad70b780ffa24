"""What a distributed step makes of the cluster, given to a real API server, as strictly as it can judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowdsl.runtime.local.pods.train_jobs import job_set
from tests.apiserver.server import ApiServer
from tests.distributed_objects import Object, made

ROOT = Path(__file__).resolve().parents[2]
CASES = [ROOT / "examples/distributed/pipeline.py", ROOT / "tests/lowering/distributed.py"]
LOWERING = ROOT / "tests/lowering"
PATHS = {
    "Service": "/api/v1/namespaces/{}/services",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "PyTorchJob": "/apis/kubeflow.org/v1/namespaces/{}/pytorchjobs",
    "TFJob": "/apis/kubeflow.org/v1/namespaces/{}/tfjobs",
    "MPIJob": "/apis/kubeflow.org/v2beta1/namespaces/{}/mpijobs",
    "JobSet": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
    "TrainingRuntime": "/apis/trainer.kubeflow.org/v1alpha1/namespaces/{}/trainingruntimes",
    "TrainJob": "/apis/trainer.kubeflow.org/v1alpha1/namespaces/{}/trainjobs",
}
OPERATORS = {
    **{kind.lower(): (kind,) for kind in ("PyTorchJob", "TFJob", "MPIJob", "JobSet")},
    "trainjob": ("TrainingRuntime", "TrainJob"),
}
"""The kinds of objects that each of them makes of a step."""


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_the_server_takes_the_objects_of_a_distributed_step(
    case: Path, server: ApiServer, namespace: str
) -> None:
    objects = made(case, {"note": 'a "quoted" $(HOME) {brace}\nsecond: line'})
    assert {one["kind"] for one in objects} == {"Service", "Job"}
    take(server, namespace, objects)


def take(server: ApiServer, namespace: str, objects: list[Object]) -> None:
    """Give objects to the server, which keeps them as they are."""
    for one in objects:
        path = PATHS[one["kind"]].format(namespace)
        taken = server.admin.call("POST", path, one, query={"fieldValidation": "Strict"})
        assert taken["metadata"]["ownerReferences"] == one["metadata"]["ownerReferences"]
        assert taken["metadata"]["name"] == one["metadata"]["name"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_server_takes_the_objects_of_an_operator(
    equipped: ApiServer, namespace: str, operator: str
) -> None:
    objects = made(LOWERING / f"{operator}.py", {})
    assert len(objects) > 1
    assert {one["kind"] for one in objects} == set(OPERATORS[operator])
    take(equipped, namespace, objects)


def test_the_server_takes_the_jobset_that_the_trainer_makes(equipped: ApiServer, namespace: str) -> None:
    runtimes, jobs = (
        {one["metadata"]["name"]: one for one in made(LOWERING / "trainjob.py", {}) if one["kind"] == kind}
        for kind in OPERATORS["trainjob"]
    )
    assert runtimes.keys() == jobs.keys()
    for name, job in jobs.items():
        sent = job_set(job, runtimes[name])
        path = PATHS["JobSet"].format(namespace)
        taken = equipped.admin.call("POST", path, sent, query={"fieldValidation": "Strict"})
        (one,) = taken["spec"]["replicatedJobs"]
        count = runtimes[name]["spec"]["mlPolicy"]["numNodes"]
        assert one["template"]["spec"]["completions"] == count
