"""Disks, locks, journals, engines and flowdsl itself in trouble."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from flowdsl.runtime.local import journal
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.pods.sandbox import in_thread
from flowdsl.runtime.local.runner import Executor, Runner
from tests.commands import Result

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_file_system_without_locks(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(*_: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", unknown)
    assert flowdsl("gate.py", "--name", "one").code == 4
    assert flowdsl("--resume", "one", "--approve", "--fake", "gate=me").code == 0
    assert run(["get", "one"]) == 0
    assert run(["fetch", "one", "-o", "here"]) == 0
    assert run(["delete", "one"]) == 0
    capsys.readouterr()


def test_a_folder_that_cannot_hold_a_run(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / ".flowdsl").write_text("")
    done = flowdsl("pipeline.py", "--name", "one")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("flowdsl: the run cannot begin: .flowdsl: File exists\n")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "--engine podman: there is no podman on this machine"),
        ("echo Cannot connect to the daemon >&2; exit 1", "--engine podman: Cannot connect to the daemon"),
    ],
)
def test_an_engine_that_runs_nothing(
    flowdsl: Callable[..., Result],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str | None,
    said: str,
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    if script is not None:
        (folder / "podman").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "podman").chmod(0o755)
    done = flowdsl("pipeline.py", "--engine", "podman", "--name", "one")
    assert done.code == 2
    assert done.err.endswith(f"flowdsl: {said}\n")
    assert not (folder / ".flowdsl").exists()


def test_a_bug_of_flowdsl_ends_the_run(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it occurs in a thread of a pod, while others wait for it."""

    def broken(*_: object) -> bool:
        raise ZeroDivisionError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr("flowdsl.runtime.local.pods.inputs.load", broken)
        done = flowdsl("pipeline.py", "--name", "one")
    assert (done.code, "ZeroDivisionError: a bug" in done.err) == (70, True)
    assert flowdsl("--resume", "one").code == 0


def test_a_disk_that_is_full(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    written = journal.Journal.write
    left = iter(range(3))

    def write(self: journal.Journal, entries: list[dict[str, object]]) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(self, entries)

    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "write", write)
        done = flowdsl("pipeline.py", "--name", "one")
    assert done.code == 4
    assert done.err.endswith(
        "flowdsl: .flowdsl/runs/one: No space left on device: the run is stopped; when that is fixed, continue with\n"
        "  flowdsl run --resume one\n"
    )
    assert flowdsl("--resume", "one").code == 0


ROOT = Path(__file__).resolve().parents[2]

FULL = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: full-}
spec:
  entrypoint: main
  templates:
  - name: main
    steps: [[{name: small, template: small}], [{name: big, template: big}]]
  - name: small
    container: {image: busybox:1.37.0, command: [sh, -c, "echo 1 >> /kept/small"]}
  - name: big
    retryStrategy: {limit: 3}
    container: {image: busybox:1.37.0, command: [sh, -c, "head -c 3000000 /dev/zero > /tmp/big"]}
  templateDefaults:
    container: {volumeMounts: [{name: kept, mountPath: /kept}]}
  volumes:
  - name: kept
    persistentVolumeClaim: {claimName: kept}
"""

OF_ITS_OWN = """
mount -t tmpfs -o size=$1 disk disk && cd disk && cp ../full.yaml . || exit 77
"$2" -m flowdsl.cli run full.yaml --name one --quiet
echo "first $?"
mount -o remount,size=9m disk .
"$2" -m flowdsl.cli run --resume one --quiet
echo "then $?"
wc -l < .flowdsl/volumes/kept/small
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no way to a disk of a test's own")
def test_a_disk_that_a_step_finds_full(folder: Path) -> None:
    """The step is not at fault: it is not retried meanwhile, and runs once there is space."""
    (folder / "disk").mkdir()
    (folder / "full.yaml").write_text(FULL)
    (folder / "go.sh").write_text(OF_ITS_OWN)
    command = ["unshare", "--map-root-user", "--mount", "sh", "go.sh", "1m", sys.executable]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this system gives nobody a disk of his own")
    first, then, small = (line for line in done.stdout.splitlines() if re.match(r"first|then|\d+$", line))
    assert (first, then, small) == ("first 4", "then 0", "1")
    assert "No space left on device: the run is stopped; when that is fixed, continue with" in done.stderr


MANY = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: many-}
spec:
  entrypoint: main
  templates:
  - name: main
    steps: [[{name: wait, template: wait, withSequence: {count: 60}}]]
  - name: wait
    container: {image: busybox:1.37.0, command: [sleep, "0.5"]}
"""


def test_a_machine_without_more_files(folder: Path) -> None:
    """The steps that cannot start are not at fault."""
    (folder / "many.yaml").write_text(MANY)
    command = [sys.executable, "-m", "flowdsl.cli", "run"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    limited = [
        "sh",
        "-c",
        'ulimit -n 40 && exec "$@"',
        "sh",
        *command,
        "many.yaml",
        "--name",
        "one",
        "--quiet",
    ]
    first = subprocess.run(limited, capture_output=True, text=True, env=env, check=False)
    assert first.returncode == 4
    assert first.stderr.endswith(
        "Too many open files: the run is stopped; when that is fixed, continue with\n  flowdsl run --resume one\n"
    )
    then = subprocess.run([*command, "--resume", "one"], capture_output=True, text=True, env=env, check=False)
    assert (then.returncode, "60 rounds\n" in then.stdout) == (0, True)


def test_a_machine_without_more_processes(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    def begin(function: Callable[[], object]) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("flowdsl.runtime.local.pods.sandbox._thread.start_new_thread", none_left)
            in_thread(function)

    with monkeypatch.context() as patch:
        patch.setattr("flowdsl.runtime.local.pods.context.in_thread", begin)
        done = flowdsl("pipeline.py", "--name", "one")
    assert (done.code, "Resource temporarily unavailable: the run is stopped" in done.err) == (4, True)
    assert flowdsl("--resume", "one").code == 0


@pytest.mark.parametrize("where", ["store.Store.take", "store.Store.get"])
def test_a_disk_that_is_full_when_files_are_handed_on(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "a file")

    with monkeypatch.context() as patch:
        patch.setattr(f"flowdsl.runtime.local.pods.{where}", full)
        done = flowdsl("pipeline.py", "--name", "one")
    assert (done.code, done.err.splitlines()[-2]) == (
        4,
        "flowdsl: a file: No space left on device: the run is stopped; when that is fixed, continue with",
    )
    assert flowdsl("--resume", "one").code == 0


def test_a_disk_that_keeps_nothing(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    def fdatasync(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fdatasync)
        done = flowdsl("pipeline.py", "--name", "one")
    assert done.code == 4
    assert "journal.jsonl: Input/output error: the run is stopped" in done.err
    assert flowdsl("--resume", "one").code == 0


def test_a_run_whose_journal_is_damaged_stays_free_for_others(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    assert flowdsl("pipeline.py", "--name", "one").code == 0
    written = folder / ".flowdsl/runs/one/journal.jsonl"
    whole = written.read_bytes()
    written.write_bytes(b"{}\n")
    for _ in range(2):
        with pytest.raises(RunError, match="is not the journal of a run"):
            Runner(written.parent, no_pods).resume()
    written.write_bytes(whole)
    assert Runner(written.parent, no_pods).resume().phase == "Succeeded"


def no_pods(report: object) -> Executor:
    raise AssertionError(report)
