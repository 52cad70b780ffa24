"""Ports of pods that meet, where somebody else on this machine has them."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.local.harness import Harness, harness, until
from tests.local.test_pods_operators import applied, indexed, replica, tf_job

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
WRITE = """
    import os, time
    open("/met/" + os.environ["MASTER_PORT"] + "-" + os.environ["PET_MASTER_PORT"], "w").close()
    while not os.path.exists("/met/enough"):
        time.sleep(0.02)
"""


def job(port: int, source: str = WRITE) -> Json:
    """A template of a Job whose pods get that port in variables."""
    env = [{"name": name, "value": str(port)} for name in ("MASTER_PORT", "PET_MASTER_PORT")]
    spec = indexed(source, 1, container={"env": env})
    return applied("batch/v1", "Job", spec, "status.succeeded == 1", "status.failed > 0")


def met(folder: Path) -> set[str]:
    """The files that pods have written."""
    return {one.name for one in (folder / "volumes/met").glob("*-*")}


def attended(pods: Harness) -> Path:
    """The parent of the pods' folder, after pending events were handled."""
    pods.pods.attend(0.02)
    return pods.folder.parent


@pytest.fixture
def port() -> int:
    """A port that is free, as is the next one, and that no other test uses."""
    for _ in range(100):
        number = random.randrange(21_000, 31_000)
        with socket.socket() as one, socket.socket() as two, suppress(OSError):
            one.bind(("", number))
            two.bind(("", number + 1))
            return number
    raise AssertionError


def test_a_second_run_meets_at_another_port(tmp_path: Path, port: int) -> None:
    with harness(tmp_path / "a", volumes=tmp_path / "volumes") as first:
        first.start(job(port))
        until(lambda: met(attended(first)))
        with harness(tmp_path / "b", volumes=tmp_path / "volumes") as second:
            second.start(job(port))
            until(lambda: len(met(attended(second))) > 1)
            assert met(tmp_path) == {f"{port}-{port}", f"{port + 97}-{port + 97}"}
            said = f"port {port} of this machine is in use: the pods of one meet at port {port + 97}"
            assert said in second.pods.notices
            (tmp_path / "volumes/met/enough").touch()
            assert second.ended()["one"].phase == first.ended()["one"].phase == "Succeeded"
        assert first.run(job(port), "again").phase == "Succeeded"
    assert not [one for one in first.pods.notices if one.startswith("Port")]


def test_servers_of_tensorflow_listen_where_nobody_does(tmp_path: Path, port: int) -> None:
    source = """
        import json, os
        places = json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"]
        with open("/met/places", "w") as file:
            file.write(" ".join(one.rpartition(":")[2] for one in places))
    """
    with socket.create_server(("", port + 1)), harness(tmp_path, volumes=tmp_path / "volumes") as pods:
        ports = [{"name": "tfjob-port", "containerPort": port}]
        workers = replica(source, 2, container={"name": "tensorflow", "ports": ports})
        done = pods.run(tf_job({"Worker": workers}, "status.replicaStatuses.Worker.succeeded == 2"))
        assert done.phase == "Succeeded"
    assert (tmp_path / "volumes/met/places").read_text() == f"{port} {port + 98}"
