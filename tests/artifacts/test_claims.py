"""Files on a claim: through a mount, or through a pod whose program runs here for the test."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flowdsl.runtime.artifacts import reader
from flowdsl.runtime.cluster.kinds import POD
from flowdsl.runtime.cluster.trouble import Refusal, Unreachable
from tests.artifacts.runs import Known, command, there, told, workflow

Json = dict[str, Any]
On = Callable[[Json], Known]


class Played:
    """The program of a pod, as a process of this machine that has a folder for the claim."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port: int = one.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self.asked: list[str] = []

    def __call__(self, pod: Json, path: str) -> bytes:
        with self._lock:
            if self._process is None:
                [container] = pod["spec"]["containers"]
                [variable] = container["env"]
                program = [
                    *container["command"][2:4],
                    str(self.folder),
                    str(self.port),
                    container["command"][6],
                ]
                environment = {**os.environ, variable["name"]: variable["value"]}
                self._process = subprocess.Popen([sys.executable, *program], env=environment)
        self.asked.append(path.partition("?")[2])
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}") as answer:
                    found: bytes = answer.read()
                    return found
            except urllib.error.HTTPError as error:
                with error:
                    status = {"message": error.read().decode()}
                raise Refusal(error.code, status, "ask", POD, pod["metadata"]["name"], "default") from None
            except urllib.error.URLError:
                time.sleep(0.02)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    folder = tmp_path / "claim"
    (folder / "runs/demo/train/model/sub").mkdir(parents=True)
    (folder / "runs/demo/train/model/w.bin").write_bytes(bytes(range(256)) * 40_000)
    (folder / "runs/demo/train/model/sub/ü b").write_bytes(b"x")
    (folder / "runs/demo/train/model/latest").symlink_to("sub/ü b")
    (folder / "runs/demo/train/report").write_bytes(b"report")
    (folder / "secret").write_bytes(b"secret")
    return folder


@pytest.fixture
def played(claim: Path) -> Iterator[Played]:
    made = Played(claim)
    yield made
    made.close()


WANTED = {
    "train/model/latest": b"x",
    "train/model/sub/ü b": b"x",
    "train/model/w.bin": bytes(range(256)) * 40_000,
    "train/report": b"report",
}


def on_claim(*names: str) -> Json:
    """A run that keeps its files on the claim `data`, as volume `datasets`."""
    values = [{"name": one, "value": f"/flowdsl/volumes/datasets/runs/demo/train/{one}"} for one in names]
    run = workflow("", {"train": {"parameters": [*values, {"name": "accuracy", "value": "0.9"}]}})
    script = {"image": "registry.example/steps:1", "command": ["python3"]}
    run["spec"] = {
        "volumes": [{"name": "datasets", "persistentVolumeClaim": {"claimName": "data"}}],
        "templates": [{"name": "train", "script": script}],
    }
    return run


def test_a_claim_that_is_mounted(on: On, claim: Path, tmp_path: Path) -> None:
    known = on(on_claim("model", "report"))
    assert command(["--mount", f"data={claim}"]) == 0
    assert there(tmp_path / "demo") == WANTED
    assert (tmp_path / "demo/train/model/latest").readlink() == Path("sub/ü b")
    assert known.pods == {}
    assert known.deleted == []


def test_a_pod_reads_the_claim_and_is_gone(on: On, played: Played, tmp_path: Path) -> None:
    known = on(on_claim("model", "report"))
    known.answer = played
    assert command([]) == 0
    assert there(tmp_path / "demo") == WANTED
    assert known.pods == {}
    assert len(known.deleted) == 1
    [body] = known.created
    [container] = body["spec"]["containers"]
    assert container["image"] == "registry.example/steps:1"
    assert container["volumeMounts"] == [{"name": "claim", "mountPath": "/claim", "readOnly": True}]
    assert body["spec"]["volumes"] == [{"name": "claim", "persistentVolumeClaim": {"claimName": "data"}}]
    assert body["spec"]["activeDeadlineSeconds"] == 3600
    assert [one["uid"] for one in body["metadata"]["ownerReferences"]] == ["u-1"]
    played.asked.clear()
    played.close()
    assert command([]) == 0
    assert all("what=list" in one for one in played.asked)


def test_answers_that_take_too_long_are_asked_for_in_smaller_parts(
    on: On, played: Played, tmp_path: Path
) -> None:
    known = on(on_claim("model"))
    known.answer = played

    def answer(pod: Json, path: str) -> bytes:
        if "length=" in path and int(path.rpartition("length=")[2]) > 1 << 20:
            raise Unreachable("the answer took longer than 15 s", sent=True)
        return played(pod, path)

    known.answer = answer
    assert command([]) == 0
    assert (tmp_path / "demo/train/model/w.bin").read_bytes() == WANTED["train/model/w.bin"]


def test_nothing_outside_of_the_claim_is_read(on: On, claim: Path, played: Played, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"outside")
    (claim / "runs/demo/train/escape").symlink_to(tmp_path / "outside")
    (claim / "runs/demo/train/model/out").symlink_to("/etc/passwd")
    run = on_claim("model", "escape", "up")
    run["status"]["nodes"]["demo-0"]["outputs"]["parameters"][2]["value"] = (
        "/flowdsl/volumes/datasets/../outside"
    )
    known = on(run)
    known.answer = played
    assert command([]) == 1
    assert there(tmp_path / "demo") == {name: data for name, data in WANTED.items() if "report" not in name}
    assert {(one["output"], one["kind"]) for one in told(tmp_path / "demo")["refused"]} == {
        ("model", "unfit"),
        ("escape", "missing"),
        ("up", "missing"),
    }


def test_nobody_without_the_token_is_answered(on: On, played: Played) -> None:
    known = on(on_claim("report"))
    seen: list[str] = []

    def answer(pod: Json, path: str) -> bytes:
        found = played(pod, path)
        with pytest.raises(Refusal) as caught:
            played(pod, "guess?" + path.partition("?")[2])
        seen.append(str(caught.value.code))
        return found

    known.answer = answer
    assert command([]) == 0
    assert set(seen) == {"403"}


def test_the_proxy_of_pods_is_not_allowed(on: On, capsys: pytest.CaptureFixture[str]) -> None:
    known = on(on_claim("report"))

    def answer(pod: Json, path: str) -> bytes:
        raise Refusal(403, {"message": "pods is forbidden"}, "ask", POD, pod["metadata"]["name"], "default")

    known.answer = answer
    assert command([]) == 3
    said = capsys.readouterr().err
    assert "needs the right to get pods/proxy in namespace `default`: pods is forbidden" in said
    assert "--mount data=PATH" in said


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            {
                "phase": "Pending",
                "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}],
            },
            "cannot start: ImagePullBackOff; name an image with Python: --image",
        ),
        (
            {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory"},
            "ended: The node was low on memory",
        ),
        (
            {"phase": "Pending", "conditions": [{"status": "False", "message": "0/3 nodes are available"}]},
            "did not start within 0.3 s: 0/3 nodes are available; or mount it here: --mount data=PATH",
        ),
    ],
)
def test_a_pod_that_does_not_start(
    on: On, status: Json, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = on(on_claim("model", "report"))
    known.status = status
    monkeypatch.setattr(reader, "POLL", 0.01)
    monkeypatch.setattr(reader, "PENDING", 0.3)
    assert command([]) == 3
    assert said in capsys.readouterr().err
    assert known.pods == {}
    assert len(known.deleted) == 1


def test_a_pod_is_deleted_after_ctrl_c(on: On, played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    known = on(on_claim("report"))

    def answer(pod: Json, path: str) -> bytes:
        raise KeyboardInterrupt

    known.answer = answer
    assert command([]) == 130
    assert known.pods == {}
    assert "To continue:\n  flowdsl fetch demo --cluster test\n" in capsys.readouterr().err
    words = ["train.report", "-o", "my files", "--own-credentials", "--logs", "--no-unpack"]
    words += ["--endpoint", "http://127.0.0.1:9", "--max-size", "1Gi", "--image", "python:3.12-slim"]
    assert command(words) == 130
    assert f"\n  flowdsl fetch demo {shlex.join(words)} --cluster test\n" in capsys.readouterr().err
