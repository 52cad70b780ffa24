"""One server for all tests: each has a namespace of its own, and leaves the parts running."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.apiserver.build import go
from tests.apiserver.proofs import SHORT
from tests.apiserver.server import ApiServer
from tests.artifacts.objects import Objects
from tests.corpus import corpus

numbers = count(1)

KUBEFLOW, MPI = "github.com/kubeflow/training-operator", "github.com/kubeflow/mpi-operator"
JOBSET, TRAINER = "sigs.k8s.io/jobset", "github.com/kubeflow/trainer/v2"
RAY = "github.com/ray-project/kuberay/ray-operator"
DEFINITIONS = {
    "PyTorchJob": (KUBEFLOW, "manifests/base/crds/kubeflow.org_pytorchjobs.yaml"),
    "TFJob": (KUBEFLOW, "manifests/base/crds/kubeflow.org_tfjobs.yaml"),
    "MPIJob": (MPI, "manifests/base/kubeflow.org_mpijobs.yaml"),
    "JobSet": (JOBSET, "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"),
    "TrainingRuntime": (TRAINER, "manifests/base/crds/trainer.kubeflow.org_trainingruntimes.yaml"),
    "TrainJob": (TRAINER, "manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml"),
    "ClusterTrainingRuntime": (
        TRAINER,
        "manifests/base/crds/trainer.kubeflow.org_clustertrainingruntimes.yaml",
    ),
    "RayCluster": (RAY, "config/crd/bases/ray.io_rayclusters.yaml"),
    "RayJob": (RAY, "config/crd/bases/ray.io_rayjobs.yaml"),
}

TOOLS = ["test_replay.py", "test_server.py"]
"""Prove the server and the replay of recordings, with which the others prove flowdsl."""

collect_ignore = TOOLS if SHORT else []


def pytest_report_header() -> str:
    """Say how much is proven."""
    if not SHORT:
        return "proofs: all"
    left = f"without {' and '.join(TOOLS)}, and with every fourth of the wrong objects"
    return f"proofs: short, {left}; `make test-cluster` without PROOFS=short has all"


@pytest.fixture(scope="session")
def server() -> Iterator[ApiServer]:
    """A server with the definitions of Argo."""
    with ApiServer(crds=sorted(corpus("argo").glob("argoproj.io_*.yaml"))) as made:
        yield made


@pytest.fixture
def namespace(server: ApiServer) -> str:
    """A new namespace."""
    return server.namespace(f"test-{next(numbers)}")


@pytest.fixture
def objects() -> Iterator[Objects]:
    """A store of artifacts."""
    made = Objects()
    yield made
    made.close()


def definition(kind: str) -> Path:
    """What an operator says of its objects, out of its module."""
    module, path = DEFINITIONS[kind]
    said = subprocess.run(
        [go(), "mod", "download", "-json", module],
        cwd=Path(__file__).parent / "operators",
        env={**os.environ, "GOWORK": "off"},
        check=True,
        capture_output=True,
        text=True,
    )
    return Path(json.loads(said.stdout)["Dir"], path)


@pytest.fixture(scope="session")
def equipped(server: ApiServer) -> ApiServer:
    """The server, which knows the objects of operators."""
    server.install([definition(kind) for kind in DEFINITIONS])
    return server
