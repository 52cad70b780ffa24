"""Runs that go on where they were interrupted, with what they were begun with."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from tests.commands import Result, process
from tests.run.files import SECRET, rows

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_run_of_another_version_can_be_looked_at(flowdsl: Callable[..., Result], folder: Path) -> None:
    flowdsl("gate.py", "--name", "old")
    journal = folder / ".flowdsl/runs/old/journal.jsonl"
    for text in (journal.read_text(encoding="utf-8").replace('"version":1', '"version":99'), ""):
        journal.write_text(text, encoding="utf-8")
        assert run(["get", "old"]) == 0
        assert run(["get", "old", "--rounds"]) == 0
    assert flowdsl("--resume", "old").code == 2


def test_a_status_that_is_broken_is_made_again(flowdsl: Callable[..., Result], folder: Path) -> None:
    assert flowdsl("pipeline.py", "--name", "one", "-p", "n=1").code == 0
    path = folder / ".flowdsl/runs/one/workflow.json"
    whole = json.loads(path.read_text())
    path.write_text("{")
    assert flowdsl("--resume", "one").code == 0
    assert json.loads(path.read_text()) == whole


def test_a_run_that_was_killed_before_its_first_status(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert flowdsl("pipeline.py", "--name", "one", "-p", "n=1").code == 0
    one = folder / ".flowdsl/runs/one"
    whole = (one / "journal.jsonl").read_text()
    (one / "workflow.json").unlink()
    (one / "journal.jsonl").write_text(whole.partition("\n")[0] + "\n")
    for command in (["get", "one"], ["get", "@latest"]):
        assert run(command) == 0
        assert "nothing runs it now: flowdsl run --resume one\n" in capsys.readouterr().out
    assert run(["list", "--local"]) == 0
    assert "Pending" in capsys.readouterr().out
    assert run(["wait", "one"]) == 4
    assert run(["logs", "one"]) == 0
    assert run(["delete", "--local", "--older-than", "0s", "--dry-run"]) == 0
    assert flowdsl("--resume", "one").code == 0
    assert run(["wait", "one"]) == 0


@pytest.mark.parametrize("text", ["[]", "{}", '{"metadata": 1}', "null"])
def test_a_file_that_is_no_workflow(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert flowdsl("pipeline.py", "--name", "one", "-p", "n=1").code == 0
    (folder / ".flowdsl/runs/one/workflow.json").write_text(text)
    said = "workflow.json cannot be read: it is not a Workflow"
    for command in (["get", "one"], ["logs", "one"], ["wait", "one"], ["stop", "one"]):
        assert run(command) == 2
        assert said in capsys.readouterr().err
    assert run(["list", "--local"]) == 0
    assert said in capsys.readouterr().err
    assert run(["delete", "one"]) == 0
    assert not (folder / ".flowdsl/runs/one").exists()


SLEEPING = ("run", "steps.yaml", "library.yaml", "--name", "one", "-p", "seconds=60")
"""A run whose last step takes a minute."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_an_interrupted_run_goes_on(
    flowdsl: Callable[..., Result], folder: Path, number: signal.Signals
) -> None:
    before = signal.signal(number, signal.SIG_DFL)  # a child inherits an ignored signal, as under nohup
    with process(*SLEEPING) as child:
        signal.signal(number, before)
        journal = folder / ".flowdsl/runs/one/journal.jsonl"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if journal.exists() and journal.read_text(encoding="utf-8").count('"event":"ended"') == 3:
                break
            time.sleep(0.05)
        busy = flowdsl("--resume", "one")
        taken = flowdsl(*SLEEPING[1:])
        child.send_signal(number)
        out, err = child.communicate(timeout=30)
    assert (busy.code, busy.err) == (
        2,
        "flowdsl: the run one is going on in another process: flowdsl watch one shows it\n",
    )
    way = "choose another name, or see how it goes on: flowdsl watch one"
    assert (taken.code, taken.err) == (2, f"flowdsl: there is a run `one` already: {way}\n")
    assert (child.returncode, out) == (128 + number, "")
    assert err.endswith(
        "interrupted: nothing is running any more; continue with\n  flowdsl run --resume one\n"
    )
    done = flowdsl("--resume", "one", "--fake", "sleep=")
    assert done.code == 0
    assert done.err.startswith("going on: 3 steps are done\n")
    assert done.err.endswith("sleep: faked\n")


@pytest.mark.skipif(sys.platform != "linux", reason="the children of a process are found in /proc")
def test_a_run_whose_helper_is_killed_goes_on(flowdsl: Callable[..., Result], folder: Path) -> None:
    """As by the out-of-memory killer: no step has failed."""
    with process(*SLEEPING) as child:
        assert child.stderr is not None
        while "sleep: started" not in child.stderr.readline():
            assert child.poll() is None
        helper = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()[0]
        os.kill(int(helper), signal.SIGKILL)
        out, err = child.communicate(timeout=30)
    assert (child.returncode, out) == (4, "")
    assert err == (
        "flowdsl: .flowdsl/runs/one: the process that starts the steps has ended: the run is stopped; "
        "when that is fixed, continue with\n  flowdsl run --resume one\n"
    )
    assert flowdsl("--resume", "one", "--fake", "sleep=").err.startswith("going on: 3 steps are done\n")


def test_a_secret_comes_through_a_pipe_once_more_for_a_run_that_goes_on(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "secret.py").write_text(SECRET, encoding="utf-8")

    def piped(text: bytes) -> str:
        reads, writes = os.pipe()
        os.write(writes, text)
        os.close(writes)
        return f"hub=/dev/fd/{reads}"

    assert flowdsl("secret.py", "--name", "one", "--secret", piped(b"token=abc\n")).code == 4
    assert "abc" not in (folder / ".flowdsl/runs/one/manifest.yaml").read_text(encoding="utf-8")
    (folder / ".flowdsl/runs/one/journal.jsonl").write_text(
        re.sub(r"/dev/fd/\d+", "/dev/fd/998", (folder / ".flowdsl/runs/one/journal.jsonl").read_text("utf-8"))
    )
    said = flowdsl("--resume", "one").err
    assert "--secret hub=/dev/fd/998: the pipe of an earlier command is gone: give it again" in said
    done = flowdsl("--resume", "one", "--secret", piped(b"token=abc\n"), "--fake", "gate=me", "-q")
    assert done.code == 0
    assert ["return", "me3"] in rows(done.out)
