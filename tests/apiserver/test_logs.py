"""`flowdsl logs` on a real API server: what arrives is what was recorded, whatever is killed meanwhile."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowdsl.cli.app import run as flowdsl
from tests.apiserver.client import PODS, WORKFLOWS
from tests.apiserver.history import History, histories, load
from tests.apiserver.proofs import SHORT
from tests.apiserver.replay import Replay
from tests.apiserver.server import ApiServer, until
from tests.corpus import corpus
from tests.long_log import peak_of_a_log

Object = dict[str, Any]

HISTORIES = [path for path in histories() if load(path).logs][:: 2 if SHORT else 1]
each_history = pytest.mark.parametrize("path", HISTORIES, ids=[path.stem for path in HISTORIES])


def recording(name: str) -> History:
    return load(corpus("recordings", "histories", f"{name}.jsonl"))


class Command:
    """`flowdsl logs` in a process of its own."""

    def __init__(self, server: ApiServer, namespace: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "flowdsl.cli", "logs", *arguments]
        env = {**os.environ, "KUBECONFIG": str(server.kubeconfig(namespace=namespace)), "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=server.folder
        )
        self.out = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while piece := os.read(self.process.stdout.fileno(), 1 << 16):
            self.out += piece

    def end(self, seconds: float = 90) -> tuple[int, bytes, str]:
        """Wait for its end: its code, what it wrote, what it said."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        try:
            code = self.process.wait(seconds)
        finally:
            self.process.kill()
            self._reader.join()
            said = self.process.stderr.read().decode()
            self.process.stdout.close()
            self.process.stderr.close()
        return code, self.out, said


Logs = Callable[..., tuple[int, bytes, str]]


@pytest.fixture
def logs(
    server: ApiServer,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Logs:
    """`flowdsl logs` in this process: its code, what it wrote, what it said."""
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(namespace=namespace)))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(server.folder)

    def run(*arguments: str) -> tuple[int, bytes, str]:
        code = flowdsl(["logs", *arguments])
        found = capfdbinary.readouterr()
        return code, found.out, found.err.decode()

    return run


def bare(text: bytes) -> bytes:
    """What a step printed: without times, and without the lines of Argo's executor."""
    return b"".join(
        line.partition(b" ")[2] for line in text.splitlines(keepends=True) if b" argo=true" not in line
    )


def by_source(out: bytes) -> dict[bytes, bytes]:
    """What was written of each source, without what stands before its lines."""
    found: dict[bytes, bytes] = {}
    for line in out.splitlines(keepends=True):
        name, bar, text = line.partition(b" | ")
        assert bar, line
        found[name] = found.get(name, b"") + text
    return found


def recorded(history: History) -> list[bytes]:
    """The logs that there are at the end, with a newline at their ends."""
    there = history.last("pods")
    texts = [bare(text) for (pod, _), text in history.logs.items() if pod in there]
    return sorted(text if text.endswith(b"\n") else text + b"\n" for text in texts if text)


@each_history
def test_each_log_is_that_recorded_byte_for_byte(
    server: ApiServer, namespace: str, logs: Logs, path: Path
) -> None:
    history = load(path)
    Replay(server, history, namespace).run()
    there = history.last("pods")
    for pod, container in list(history.logs)[:4]:
        expected = bare(history.logs[pod, container]) if pod in there else b""
        code, out, _ = logs(history.run, pod)
        assert (code, out) == (0, expected)
    pod, container = next(iter(history.logs))
    if pod in there:
        code, out, _ = logs(history.run, pod, "--timestamps", "-c", container)
        assert (code, out) == (0, history.logs[pod, container])


@each_history
def test_all_logs_of_a_run_are_merged_by_time(
    server: ApiServer, namespace: str, logs: Logs, path: Path
) -> None:
    history = load(path)
    Replay(server, history, namespace).run()
    code, out, said = logs(history.run, "--prefix")
    assert (code, said) == (0, "")
    assert sorted(by_source(out).values()) == recorded(history)
    _, out, _ = logs(history.run, "--no-prefix", "--timestamps")
    stamps = [line[:30] for line in out.splitlines() if re.match(rb"2026-11-21T", line)]
    assert stamps == sorted(stamps)


@each_history
def test_a_run_is_followed_while_it_is_replayed(server: ApiServer, namespace: str, path: Path) -> None:
    history = load(path)
    replay = Replay(server, history, namespace)
    replay.step()
    command = Command(server, namespace, history.run, "--follow", "--prefix")
    replay.run(speed=10)
    code, out, _ = command.end()
    assert code == 0
    assert sorted(by_source(out).values()) == recorded(history)


@pytest.mark.parametrize("name", ["fan-out-12"] if SHORT else ["fan-out-12", "retry-then-succeed"])
def test_a_server_that_is_killed_meanwhile_costs_no_byte(
    server: ApiServer, namespace: str, name: str
) -> None:
    history = recording(name)
    replay = Replay(server, history, namespace)
    replay.step()
    command = Command(server, namespace, history.run, "--follow", "--prefix")
    count = len(history.events)
    for at in range(1, count):
        if at % (count // (2 if SHORT else 3)) == 0:
            server.restart("apiserver")
        if at % 3 == 0:
            server.kubelet.cut = 100 + at
        replay.step()
        time.sleep(0.02)
    server.kubelet.cut = 333
    replay.run()
    code, out, said = command.end()
    assert code == 0
    # A server that needs longer than a moment is told.
    assert all(
        re.fullmatch(r"note: cannot .*; it is tried again for \d+ seconds", line)
        for line in said.splitlines()
    )
    assert sorted(by_source(out).values()) == recorded(history)


def test_a_kubelet_that_breaks_off_looks_complete_and_is_asked_again(
    server: ApiServer, namespace: str, logs: Logs
) -> None:
    history = recording("steps-fail-and-exit")
    Replay(server, history, namespace).run()
    (pod, _), text = next(iter(history.logs.items()))
    for cut in (1, 31, 100, len(text) - 1):
        server.kubelet.cut = cut
        assert logs(history.run, pod)[:2] == (0, bare(text))


def test_failed_attempts_are_named(server: ApiServer, namespace: str, logs: Logs) -> None:
    history = recording("retry-then-succeed")
    Replay(server, history, namespace).run()
    code, out, said = logs("@latest", "--grep", "^try")
    assert (code, said) == (0, "")
    assert out == b"main | try 0\nmain, attempt 2 | try 1\nmain, attempt 3 | try 2\n"
    code, out, said = logs(history.run, "--failed")
    assert (code, out) == (0, b"")


def test_failed_is_the_log_of_what_failed(server: ApiServer, namespace: str, logs: Logs) -> None:
    history = recording("steps-fail-and-exit")
    Replay(server, history, namespace).run()
    ((_, text),) = [one for one in history.logs.items() if "-bad-" in one[0][0]]
    assert logs(history.run, "--failed") == (0, bare(text), "")
    assert logs(history.run, "train", "--tail", "1")[1] == bare(text).splitlines(True)[-1]


def test_since_leaves_out_what_is_older(server: ApiServer, namespace: str, logs: Logs) -> None:
    history = recording("steps-fail-and-exit")
    Replay(server, history, namespace).run()
    (pod, _), text = next(iter(history.logs.items()))
    lines = text.splitlines(keepends=True)
    stamp = lines[2].partition(b" ")[0].decode()
    _, out, _ = logs(history.run, pod, "--since", stamp)
    assert out == bare(b"".join(lines[2:]))


def test_pods_that_are_gone_are_named(server: ApiServer, namespace: str, logs: Logs) -> None:
    history = recording("steps-fail-and-exit")
    Replay(server, history, namespace).run()
    for pod in history.last("pods"):
        server.admin.delete(f"{PODS.format(namespace)}/{pod}", {"gracePeriodSeconds": 0})
    code, out, said = logs(history.run)
    assert (code, out) == (0, b"")
    assert said.startswith(
        "flowdsl: the pods of prepare, train and onExit are gone, and so is what was printed"
    )


def test_a_run_that_is_deleted_while_it_is_followed(server: ApiServer, namespace: str) -> None:
    history = recording("approve-then-go")
    replay = Replay(server, history, namespace)
    replay.until(lambda event: event.kind == "pods" and event.object["status"].get("phase") == "Succeeded")
    command = Command(server, namespace, history.run, "-f")
    assert until(lambda: command.out != b"", 30)
    server.admin.delete(f"{WORKFLOWS.format(namespace)}/{history.run}")
    code, _, said = command.end()
    assert code == 6
    assert said.startswith(f"flowdsl: the run `{history.run}` in namespace `{namespace}` was deleted")


def test_contact_that_is_lost_leaves_the_end_unknown(server: ApiServer, namespace: str) -> None:
    history = recording("approve-then-go")
    replay = Replay(server, history, namespace)
    replay.until(lambda event: event.kind == "pods" and event.object["status"].get("phase") == "Succeeded")
    command = Command(server, namespace, history.run, "-f", "--request-timeout", "0.3")
    assert until(lambda: command.out != b"", 30)
    server.kill("apiserver")
    try:
        code, _, said = command.end()
    finally:
        server.revive("apiserver")
    assert code == 4
    assert "cannot be reached" in said
    assert re.search(rf"to follow it again:\n  flowdsl logs {history.run} -f --since \S+\n\Z", said)


def test_ctrl_c_detaches_and_says_how_to_come_back(server: ApiServer, namespace: str) -> None:
    history = recording("approve-then-go")
    replay = Replay(server, history, namespace)
    replay.until(lambda event: event.kind == "pods" and event.object["status"].get("phase") == "Succeeded")
    command = Command(server, namespace, history.run, "-f", "-n", namespace)
    assert until(lambda: command.out != b"", 30)
    command.process.send_signal(signal.SIGINT)
    code, _, said = command.end()
    assert code == 130
    again = f"  flowdsl logs {history.run} -f --since 2026-11-21T[0-9:]+Z --namespace {namespace}\n"
    assert re.fullmatch(f"flowdsl: detached from {history.run}; to continue:\n{again}", said)
    assert server.admin.get(f"{WORKFLOWS.format(namespace)}/{history.run}")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nobody"], 2, "there is no run `nobody`"),
        (["h-steps-fail-and-exit", "trian"], 2, "h-steps-fail-and-exit has no step `trian`: is it `train`?"),
        (["h-steps-fail-and-exit", "-c", "side"], 2, "there is no container `side`: the pods have "),
    ],
)
def test_a_wrong_name_is_one_line(
    server: ApiServer, namespace: str, logs: Logs, arguments: list[str], code: int, said: str
) -> None:
    Replay(server, recording("steps-fail-and-exit"), namespace).run()
    found = logs(*arguments)
    assert (found[0], found[1]) == (code, b"")
    assert found[2].startswith(f"flowdsl: {said}")
    assert found[2].count("\n") == 1


def test_a_log_of_a_gigabyte_takes_little_memory() -> None:
    assert peak_of_a_log(128 if SHORT else 1024, 100_000, 900) < 100
