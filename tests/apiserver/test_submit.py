"""Runs submitted to a real API server and waited for, while requests, connections and the server itself break."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run as flowdsl
from flowdsl.runtime.cluster import follow
from flowdsl.runtime.cluster.kinds import WORKFLOW
from flowdsl.runtime.cluster.kubernetes import Kubernetes
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.transport import Access, Transport
from flowdsl.runtime.cluster.trouble import Refusal, Unreachable
from tests.apiserver.broken import behind
from tests.apiserver.client import WORKFLOWS
from tests.apiserver.server import ApiServer, until
from tests.cluster.faults import FAULTS, Fault, Proxy, until_it_passes
from tests.cluster.runs import PIPELINE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator


def names(server: ApiServer, namespace: str) -> list[str]:
    listed = server.admin.get(WORKFLOWS.format(namespace))["items"]
    return [each["metadata"]["name"] for each in listed]


def there(server: ApiServer, namespace: str, name: str) -> bool:
    return name in names(server, namespace)


def end(server: ApiServer, namespace: str, name: str) -> None:
    """Let a run end, as the controller does."""
    patch = {
        "metadata": {"labels": {"workflows.argoproj.io/completed": "true"}},
        "status": {
            "phase": "Succeeded",
            "startedAt": "2026-01-31T10:00:00Z",
            "finishedAt": "2026-01-31T10:03:20Z",
        },
    }
    server.admin.patch(f"{WORKFLOWS.format(namespace)}/{name}", patch)


@contextmanager
def meanwhile(done: Callable[[], None]) -> Generator[None]:
    """Do something at the same time; what goes wrong in it is raised here."""
    wrong: list[BaseException] = []

    def watched() -> None:
        try:
            done()
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=watched)
    thread.start()
    yield
    thread.join()
    if wrong:
        raise wrong[0]


@pytest.fixture
def proxy(
    server: ApiServer, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Proxy]:
    with behind(server, tmp_path / "kubeconfig", namespace, late=2.5) as made:
        (tmp_path / "tiny.py").write_text(PIPELINE)
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(follow, "WINDOW", 3.0)
        yield made


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lost_request_never_makes_a_second_run(
    server: ApiServer, namespace: str, proxy: Proxy, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    def submit(number: int) -> None:
        name = f"run-{number}"
        command = [
            "submit",
            "tiny.py",
            "--name",
            name,
            "--wait",
            "--timeout",
            "90s",
            "--request-timeout",
            "2",
        ]

        def ends() -> None:
            assert until(partial(there, server, namespace, name), 60)
            end(server, namespace, name)

        with meanwhile(ends):
            assert flowdsl(command) == 0
        assert capsys.readouterr().out == f"{name}\n{name}: Succeeded after 3m 20s\n"
        assert names(server, namespace) == [name]
        server.admin.delete(f"{WORKFLOWS.format(namespace)}/{name}")

    assert until_it_passes(proxy, fault, submit) >= 3


def submitted(server: ApiServer, namespace: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert flowdsl(["submit", "tiny.py"]) == 0
    name = capsys.readouterr().out.strip()
    assert names(server, namespace) == [name]
    return name


def test_waiting_survives_the_death_of_the_server(
    server: ApiServer, namespace: str, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    name = submitted(server, namespace, capsys)

    def die() -> None:
        time.sleep(1)
        server.restart("apiserver")
        end(server, namespace, name)

    with meanwhile(die):
        assert flowdsl(["wait", name, "--timeout", "90s"]) == 0


def test_what_was_done_though_every_answer_was_an_error(
    server: ApiServer, namespace: str, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    for method in ("POST", "PATCH", "DELETE"):
        proxy.break_every(method, "/workflows", "504")
    workflows = f"/apis/argoproj.io/v1alpha1/namespaces/{namespace}/workflows"
    quick = ["--request-timeout", "1"]
    assert flowdsl(["submit", "tiny.py", "--name", "one", *quick]) == 0
    assert server.admin.get(f"{workflows}/one")["metadata"]["name"] == "one"
    assert flowdsl(["stop", "one", *quick]) == 0
    assert server.admin.get(f"{workflows}/one")["spec"]["shutdown"] == "Stop"
    assert flowdsl(["delete", "one", "--yes", *quick]) == 0
    assert server.admin.get(workflows)["items"] == []
    assert capsys.readouterr().out == "one\none: stopping\none: deleted\n"


def test_waiting_survives_a_server_that_has_forgotten(
    server: ApiServer, namespace: str, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    name = submitted(server, namespace, capsys)

    def forget() -> None:
        time.sleep(1)
        server.kill("apiserver")
        server.revive("apiserver")
        end(server, namespace, name)
        server.compact()
        server.restart("apiserver")

    with meanwhile(forget):
        assert flowdsl(["wait", name, "--timeout", "90s"]) == 0


def test_waiting_survives_a_connection_that_is_half_open(
    server: ApiServer, namespace: str, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    name = submitted(server, namespace, capsys)

    def stall() -> None:
        time.sleep(1)
        with server.paused("apiserver"):
            time.sleep(8)
        end(server, namespace, name)

    with meanwhile(stall):
        assert flowdsl(["wait", name, "--timeout", "90s", "--request-timeout", "2"]) == 0


def test_a_server_that_stays_away_changes_no_time(
    server: ApiServer, namespace: str, proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    name = submitted(server, namespace, capsys)
    with server.paused("apiserver"):
        began = time.monotonic()
        assert flowdsl(["wait", name, "--timeout", "4s"]) == 5
        assert time.monotonic() - began < 13  # one request alone may take 15 seconds
        began = time.monotonic()
        assert flowdsl(["wait", name, "--timeout", "60s", "--request-timeout", "0.5"]) == 3
        assert time.monotonic() - began < 40
    server.wait()


NEEDY = """
from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets", mode="ReadWriteMany")


@step(image="python:3.12-slim", priority="high", gpu=8)
def train(data: Path) -> float:
    return 1.0


@pipeline
def needy() -> None:
    train(DATA / "raw")
"""


def test_a_pipeline_that_does_not_fit_the_cluster(
    server: ApiServer, namespace: str, proxy: Proxy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "needy.py").write_text(NEEDY)
    quota = {
        "metadata": {"name": "gpus"},
        "spec": {"hard": {"requests.nvidia.com/gpu": "4"}},
        "status": {"hard": {"requests.nvidia.com/gpu": "4"}, "used": {"requests.nvidia.com/gpu": "0"}},
    }
    path = f"/api/v1/namespaces/{namespace}/resourcequotas"
    server.admin.create(path, quota)
    server.admin.patch(f"{path}/gpus/status", {"status": quota["status"]})
    assert flowdsl(["submit", "needy.py"]) == 3
    said = capsys.readouterr()
    for text in (
        f"PersistentVolumeClaim `datasets` in namespace `{namespace}`",
        "PriorityClass `high`",
        "requests.nvidia.com/gpu",
        f"nothing was created in namespace `{namespace}`",
    ):
        assert text in said.err
    assert said.out == ""
    assert names(server, namespace) == []


def test_without_the_right_to_create(
    server: ApiServer,
    namespace: str,
    proxy: Proxy,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig("limited", namespace)))
    assert flowdsl(["submit", "tiny.py", "--name", "mine"]) == 3
    said = capsys.readouterr().err
    assert f"cannot create Workflow `mine` in namespace `{namespace}`" in said
    assert f"kubectl auth can-i create workflows.argoproj.io -n {namespace}" in said
    assert names(server, namespace) == []


def test_a_certificate_that_is_not_accepted_is_told_at_once(server: ApiServer, tmp_path: Path) -> None:
    config = json.loads(server.kubeconfig().read_text())
    del config["clusters"][0]["cluster"]["certificate-authority"]
    file = tmp_path / "config"
    file.write_text(json.dumps(config))
    pauses: list[float] = []
    way = Kubernetes(Transport(Access(kubeconfig=file)), Policy(sleep=pauses.append))
    with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
        way.list(WORKFLOW)
    assert not pauses


def test_who_asks_as_somebody_else_has_the_rights_of_that_one(
    server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    config = json.loads(server.kubeconfig("admin", namespace).read_text())
    config["users"][0]["user"] |= {"as": "limited", "as-groups": ["one", "two"]}
    file = tmp_path / "config"
    file.write_text(json.dumps(config))
    with pytest.raises(Refusal, match='User "limited" cannot list resource'):
        Kubernetes(Transport(Access(kubeconfig=file))).list(WORKFLOW)


def test_without_argo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tiny.py").write_text(PIPELINE)
    monkeypatch.chdir(tmp_path)
    with ApiServer() as bare:
        monkeypatch.setenv("KUBECONFIG", str(bare.kubeconfig()))
        assert flowdsl(["submit", "tiny.py", "--name", "mine"]) == 3
    said = capsys.readouterr().err
    assert "cannot create Workflow `mine` in namespace `default`" in said
    assert "Argo Workflows is not installed there" in said
