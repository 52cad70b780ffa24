"""Ctrl-C at random moments: the run is left alone, what is written is whole, and how to come back is said."""

from __future__ import annotations

import base64
import os
import random
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.apiserver.client import WORKFLOWS
from tests.apiserver.history import load
from tests.apiserver.proofs import SHORT
from tests.apiserver.replay import Replay
from tests.apiserver.server import ApiServer, until
from tests.apiserver.test_submit import there
from tests.artifacts.objects import Objects
from tests.artifacts.runs import there as files_of
from tests.artifacts.test_fetch import tgz
from tests.cluster.runs import PIPELINE
from tests.corpus import corpus

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 10 if SHORT else 50
MAIN = "import pathlib, sys; from flowdsl_command import main; pathlib.Path(sys.argv.pop(1)).touch(); main()"
"""The command, which says when it begins: Python itself takes its time before that, and shows what it was at."""
AT_ONCE = 3


class Ended(NamedTuple):
    """How a command ended that was interrupted."""

    round: int
    code: int
    out: bytes
    err: str


def interrupted(
    arguments: Callable[[int], list[str]],
    kubeconfig: Path,
    folder: Path,
    longest: float,
    ready: Callable[[int, subprocess.Popen[bytes]], bool],
) -> list[Ended]:
    """Run a command many times, each time interrupted at another moment; what became of it.

    Half of the rounds wait until it is `ready` before the moment is drawn.
    """
    chance = random.Random(7)
    moments = [chance.uniform(0, 1) for _ in range(ROUNDS)]

    def one(number: int) -> Ended:
        began = folder / f"began-{number}"
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, str(began), *arguments(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "KUBECONFIG": str(kubeconfig)},
            cwd=folder,
        )
        until(began.exists, 30)
        if number % 2:
            until(partial(ready, number, process), 30)
            time.sleep(0.3 * moments[number])
        else:
            time.sleep(longest * moments[number])
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return Ended(number, process.returncode, out, err.decode())

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(one, range(ROUNDS)))
    for each in found:
        assert "Traceback" not in each.err, each
        # The signal itself ends a process whose command is done.
        assert each.code in (0, 130) or (each.code == -signal.SIGINT and each.out), each
    return found


def test_submit_and_wait(server: ApiServer, namespace: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(PIPELINE)
    kubeconfig = server.kubeconfig("admin", namespace)
    ended = interrupted(
        lambda number: ["submit", "tiny.py", "--name", f"run-{number}", "--wait"],
        kubeconfig,
        tmp_path,
        2.0,
        lambda number, _: there(server, namespace, f"run-{number}"),
    )
    attached = 0
    for each in ended:
        name = f"run-{each.round}"
        assert each.code == 130
        created = there(server, namespace, name)
        if each.out:
            attached += 1
            assert created
            assert f"flowdsl wait {name}\n" in each.err
            assert f"flowdsl stop {name}\n" in each.err
        if created:
            assert name in each.err
            found = server.admin.get(f"{WORKFLOWS.format(namespace)}/{name}")
            assert "status" not in found
            assert "shutdown" not in found["spec"]
    assert attached >= ROUNDS // 4


def test_logs_that_are_followed(server: ApiServer, namespace: str, tmp_path: Path) -> None:
    history = load(corpus("recordings", "histories", "steps-fail-and-exit.jsonl"))
    replay = Replay(server, history, namespace)
    [pod] = {line.pod for line in history.lines if b"CUDA error" in line.text}
    replay.until(lambda event: event.name == pod and event.object["status"].get("phase") == "Failed")
    whole = b"".join(
        line.text
        for line in history.lines
        if (line.pod, line.container) == (pod, "main") and b" argo=true" not in line.text
    )
    before = server.admin.get(f"{WORKFLOWS.format(namespace)}/{history.run}")
    ended = interrupted(
        lambda _: ["logs", history.run, "train", "-f"],
        server.kubeconfig("admin", namespace),
        tmp_path,
        2.0,
        lambda _, process: process.stdout is not None and bool(select.select([process.stdout], [], [], 0)[0]),
    )
    shown = 0
    for each in ended:
        if each.out:
            shown += 1
            assert whole.startswith(each.out), each
        if each.code == 130 and each.out:
            assert f"flowdsl logs {history.run} train -f" in each.err
    assert shown >= ROUNDS // 4
    assert server.admin.get(f"{WORKFLOWS.format(namespace)}/{history.run}") == before


def test_fetch(server: ApiServer, namespace: str, tmp_path: Path, objects: Objects) -> None:
    history = load(corpus("recordings", "histories", "artifacts-and-parameters.jsonl"))
    Replay(server, history, namespace).run()
    weights = random.Random(1).randbytes(8 << 20)
    [workflow] = history.last("wf").values()
    for node in workflow["status"]["nodes"].values():
        for artifact in node.get("outputs", {}).get("artifacts", ()):
            data = tgz({"model/weights.bin": weights}) if artifact["name"] == "model" else b"notes\n"
            objects.put(artifact["s3"]["key"], data)
    keys = {key: base64.b64encode(key.encode()).decode() for key in ("accessKey", "secretKey")}
    secret = {"metadata": {"name": "s3cred"}, "data": keys}
    server.admin.create(f"/api/v1/namespaces/{namespace}/secrets", secret)
    whole = {"make/model/weights.bin": weights, "make/notes": b"notes\n"}
    command = ["fetch", history.run, "--endpoint", f"http://{objects.endpoint}"]
    kubeconfig = server.kubeconfig("admin", namespace)
    ended = interrupted(
        lambda number: [*command, "-o", f"to-{number}"],
        kubeconfig,
        tmp_path,
        2.0,
        lambda number, _: (tmp_path / f"to-{number}").exists(),
    )
    for each in ended:
        folder = tmp_path / f"to-{each.round}"
        found = files_of(folder) if folder.exists() else {}
        for name, data in found.items():
            assert whole[name] == data, (each.round, name)
        # It is written after the last file: an interrupt between the two leaves all of them without it.
        complete = (folder / "run.json").exists()
        assert not complete or found == whole, each
        assert complete or each.code != 0, each
        if each.code == 130 and folder.exists():
            assert f"flowdsl fetch {history.run}" in each.err
    assert sum(each.code == 130 for each in ended) >= ROUNDS // 4
    unfinished = [each for each in ended if not (tmp_path / f"to-{each.round}" / "run.json").exists()]
    for each in [*ended[:2], *unfinished[-4:]]:
        folder = tmp_path / f"to-{each.round}"
        done = subprocess.run(
            [sys.executable, "-m", "flowdsl.cli", *command, "-o", str(folder)],
            env={**os.environ, "KUBECONFIG": str(kubeconfig)},
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert files_of(folder) == whole
        assert (folder / "run.json").exists()
