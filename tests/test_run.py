"""`flowdsl run`: what is shown, what is refused, and how a run is taken up again."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from flowdsl.cli.app import run

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]

PIPELINE = """\
import sys
import time
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, approve, choice, minimize, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"


class Mode(Enum):
    FAST = 1
    SLOW = 2


class Tried(NamedTuple):
    loss: float
    model: Path


@step(image=PYTHON)
def prepare(n: int) -> int:
    return n


@step(image=PYTHON)
def attempt(base: int, rate: float) -> Tried:
    if rate > 1:
        print("\\x1b[31mthe rate\\x1b[0m", rate)
        raise ValueError("too large")
    model = Path("model.txt")
    model.write_text(str(rate), encoding="utf-8")
    return Tried(base * rate, model)


@step(image=PYTHON)
def publish(model: Path, mode: Mode) -> str:
    print("publishing", mode.name)
    if mode is Mode.SLOW:
        time.sleep(0.5)
        sys.exit(4)
    return model.read_text(encoding="utf-8")


@step(image=PYTHON)
def never() -> None: ...


@pipeline
def search(n: int = 2, mode: Mode = Mode.FAST) -> str:
    base = prepare(n)
    runs = sweep(attempt, over={"rate": choice(0.5, 2.0, 0.25)}, objective=minimize("loss"), base=base)
    with when(base > 100):
        never()
    return publish(runs.best.model, mode)
"""

GATE = """\
from flowdsl import approve, pipeline, step


@approve()
def gate() -> str:
    raise NotImplementedError


@approve()
def door() -> None:
    raise NotImplementedError


@step(image="python:3.12-slim")
def tell(who: str) -> str:
    return f"hello {who}"


@pipeline
def asked() -> str:
    told = tell(gate())
    door.options(after=[told])()
    return told
"""

STEPS = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: hello-}
spec:
  entrypoint: main
  arguments:
    parameters:
    - {name: size, value: small, enum: [small, large]}
    - {name: seconds, value: "0"}
  templates:
  - name: main
    steps:
    - - name: say
        template: say
        arguments: {parameters: [{name: n, value: "{{item}}"}]}
        withItems: [1, 2]
      - name: lib
        templateRef: {name: lib, template: shout}
    - - name: sleep
        template: sleep
  - name: say
    inputs: {parameters: [{name: n}]}
    container: {image: "alpine:3", command: [sh, -c], args: ["echo {{inputs.parameters.n}} > /tmp/x"]}
    outputs: {parameters: [{name: r, valueFrom: {path: /tmp/x}}]}
  - name: sleep
    container: {image: "alpine:3", command: [sleep, "{{workflow.parameters.seconds}}"]}
"""

LIBRARY = """\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: lib}
spec:
  templates:
  - name: shout
    container: {image: "alpine:3", command: [sh, -c, "echo HEY"]}
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    files = {"pipeline.py": PIPELINE, "gate.py": GATE, "steps.yaml": STEPS, "library.yaml": LIBRARY}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def flowdsl(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run `flowdsl run` in this process, in the current folder."""

    def command(*arguments: str) -> Result:
        capsys.readouterr()
        code = run(["run", *arguments])
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return command


def rows(text: str) -> list[list[str]]:
    """The lines of a text as words, without times."""
    return [re.sub(r"\b\d+\.\ds\b", "", line).split() for line in text.splitlines()]


# --- what is shown ------------------------------------------------------------------------------------


def test_the_end_of_a_sweep(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--name", "one")
    assert done.code == 0
    shown = rows(done.out)
    assert ["runs", "Succeeded", "3", "rounds,", "1", "failed"] in shown
    assert ["never", "Skipped", "when", "'false'", "evaluated", "false"] in shown
    at = shown.index(["runs,", "the", "smallest", "loss", "first"])
    assert shown[at + 1 : at + 5] == [
        ["#", "rate", "loss"],
        ["2", "0.25", "0.5", "best"],
        ["0", "0.5", "1.0"],
        ["1", "2.0", "Failed:", "ValueError:", "too", "large"],
    ]
    assert ["return", "0.25"] in shown
    assert done.out.endswith("its folder is .flowdsl/runs/one\n")


def test_a_line_for_each_change(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--name", "one")
    lines = [re.sub(r"after \d+\.\ds", "after T", line) for line in done.err.splitlines()]
    assert lines[0].startswith("note: images are not used")
    assert lines[1:3] == ["base: started", "base: succeeded after T"]
    assert "runs.attempt(0): started" in lines
    assert "runs.attempt(1): failed after T: main: Error (exit code 1)" in lines
    assert "never: skipped: when 'false' evaluated false" in lines
    assert "\x1b" not in done.err + done.out


def test_nothing_of_a_run_is_committed(flowdsl: Callable[..., Result], folder: Path) -> None:
    flowdsl("pipeline.py", "-q")
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == [".flowdsl"]
    assert (folder / ".flowdsl/.gitignore").read_text(encoding="utf-8") == "*\n"


def test_one_round_or_a_whole_loop_alone(flowdsl: Callable[..., Result]) -> None:
    assert flowdsl("pipeline.py", "-q").code == 0
    done = flowdsl("pipeline.py", "--only", "attempt(2)", "-q")
    assert ["loss", "0.5"] in rows(done.out)
    done = flowdsl("pipeline.py", "--only", "runs", "-q")
    assert done.code == 0
    assert ["2", "0.25", "0.5", "best"] in rows(done.out)
    assert "after a change" not in done.out


def test_quiet_shows_the_end_only(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "-q")
    assert done.err == ""
    assert done.out.startswith("step ")


def test_the_end_as_json(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--json", "--name", "one")
    assert done.err == ""
    found: dict[str, Any] = json.loads(done.out)
    assert (found["name"], found["phase"], found["outputs"]) == ("one", "Succeeded", {"return": "0.25"})
    (loop,) = found["loops"]
    assert loop["objective"] == {"metric": "loss", "goal": "min"}
    assert [one["number"] for one in loop["rounds"] if one["best"]] == [2]
    assert found["notes"][0].startswith("images are not used")
    assert {one["path"] for one in found["steps"]} >= {"base", "runs", "runs(0)", "publish"}


def test_a_run_that_fails_shows_the_log_and_how_to_go_on(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--name", "one", "-p", "mode=SLOW")
    assert done.code == 1
    assert "publish failed; the end of .flowdsl/runs/one/logs/one-" in done.out
    assert "  | publishing SLOW\n" in done.out
    assert "after a change: flowdsl run pipeline.py --from publish --of one\n" in done.out


def test_a_terminal_shows_a_tree(folder: Path) -> None:
    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "90", "LINES": "20", "PYTHONPATH": str(ROOT)}
    env.pop("NO_COLOR")
    command = [sys.executable, "-m", "flowdsl.cli", "run", "pipeline.py", "-p", "mode=SLOW"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, stdin=slave, env=env) as child:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            shown += piece
        out = child.stdout.read() if child.stdout is not None else b""
        assert child.wait() == 1
    os.close(master)
    text = shown.decode()
    assert "●" in text
    assert "base" in text
    assert text.rstrip().endswith("\x1b[2K") or "\x1b[?25h" in text, "the cursor is shown again"
    assert "\x1b" not in out.decode()


def test_a_tree_has_what_is_wanted_most() -> None:
    from flowdsl.cli.live import Row, fitted

    ranks = [3, 3, 1, 3, 0, 2, 1]
    tree = [Row(0, "·", "", f"step{at}", "", None, rank) for at, rank in enumerate(ranks)]
    assert [row.name for row in fitted(tree, 4)] == ["step2", "step4", "step5", "step6"]
    assert fitted(tree, 7) == tree


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "m=3"], "-p m: the pipeline `search` has no parameter `m`; it has n: int, mode: Mode"),
        (["-p", "moed=FAST"], "did you mean `mode`?"),
        (["-p", "n=three"], "-p n=three: `n` is int: it is no whole number"),
        (["-p", "mode=fast"], "`mode` is Mode: it is one of FAST, SLOW; did you mean `FAST`?"),
        (["-p", "n"], "-p n: write -p NAME=VALUE"),
        (["-p", "n=1", "-p", "n=2"], "-p n is given twice"),
        (["--fake", "prepair=1"], "--fake prepair: there is no step `prepair`; did you mean `prepare`?"),
        (["--fake", "attempt=1"], "it has several outputs: --fake attempt.loss=... --fake attempt.model=..."),
        (["--fake", "attempt.los=1"], "the output `loss` needs a value too"),
        (["--fake", "runs=1"], "`runs` is a graph of steps; name one of these"),
        (["--mount", "data=."], "--mount data: the workflow has no claim `data`; it has none"),
        (["--mount", "data=no/where"], "there is no no"),
        (["--artifact", "raw=nowhere"], "--artifact raw=nowhere: there is no nowhere"),
        (["--only", "publish"], "there is no earlier run of search in .flowdsl/runs: run all of it first"),
        (["--only", "a", "--from", "b"], "--only runs one step, --from it and what follows"),
        (["--of", "one"], "--of names the earlier run for --only or --from"),
        (["--name", "No_"], "--name No_: a name has small letters"),
        (["--python", "pythno"], "--python pythno: there is no such program"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(
    arguments: list[str], message: str, flowdsl: Callable[..., Result]
) -> None:
    done = flowdsl("pipeline.py", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not Path(".flowdsl").exists()


def test_findings_stop_a_run(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "pipeline.py").write_text(PIPELINE.replace("prepare(n)", "prepare(m=n)"), encoding="utf-8")
    done = flowdsl("pipeline.py")
    assert done.code == 2
    assert "error[FD203]" in done.err
    assert not Path(".flowdsl").exists()


def test_what_a_file_lacks_is_named(flowdsl: Callable[..., Result]) -> None:
    assert "workflow template lib not found; name the file" in flowdsl("steps.yaml").err
    assert "one of small, large, not `tiny`" in flowdsl("steps.yaml", "library.yaml", "-p", "size=tiny").err
    assert "did you mean `size`?" in flowdsl("steps.yaml", "library.yaml", "-p", "sise=large").err
    assert "name a file to run" in flowdsl().err
    assert flowdsl("nowhere.py").code == 2


def test_several_pipelines_need_a_name(flowdsl: Callable[..., Result], folder: Path) -> None:
    more = "\n\n@pipeline\ndef other() -> None:\n    never()\n"
    (folder / "pipeline.py").write_text(PIPELINE + more, encoding="utf-8")
    assert "there are several to run: search, other" in flowdsl("pipeline.py").err
    assert flowdsl("pipeline.py:other", "-q").code == 0


# --- parts of a run, and runs that are taken up again -------------------------------------------------


def test_several_files_and_steps(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("steps.yaml", "library.yaml", "--name", "one")
    assert done.code == 0
    assert ["say", "Succeeded", "2", "rounds"] in rows(done.out)
    assert "say(1): started\n" in done.err
    again = flowdsl("steps.yaml", "library.yaml", "--only", "say(1)", "--of", "one", "-q")
    assert ["r", "2"] in rows(again.out)


def test_a_step_that_is_faked(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--fake", "attempt.loss=7", "--fake", "attempt.model=pipeline.py", "-q")
    assert done.code == 0
    assert ["0", "0.5", "7", "best"] in rows(done.out)


def test_from_a_step_on(flowdsl: Callable[..., Result]) -> None:
    assert flowdsl("pipeline.py", "--name", "one", "-p", "n=4", "-p", "mode=SLOW").code == 1
    done = flowdsl("pipeline.py", "--from", "publish", "--name", "two", "-p", "mode=FAST")
    assert done.code == 0
    assert "base: from one\n" in done.err
    assert "runs.attempt(1): from one\n" in done.err
    assert "publish: started\n" in done.err
    assert ["2", "0.25", "1.0", "best"] in rows(done.out), "with the parameter of the earlier run"
    only = flowdsl("pipeline.py", "--only", "publish", "--of", "one", "-p", "mode=FAST", "-q")
    assert [line[:2] for line in rows(only.out)][1] == ["publish", "Failed"], "with the inputs that it had"
    wrong = flowdsl("pipeline.py", "--from", "publsh")
    assert wrong.code == 2
    assert "the run two has no step `publsh`; did you mean `publish`?" in wrong.err


def test_a_name_is_used_once(flowdsl: Callable[..., Result]) -> None:
    assert flowdsl("gate.py", "--name", "one").code == 4
    done = flowdsl("gate.py", "--name", "one")
    assert done.code == 2
    assert "there is a run `one` already: choose another name, or go on with it: --resume one" in done.err


def test_a_gate_waits_for_somebody(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("gate.py", "--name", "one")
    assert done.code == 4
    assert done.err.endswith(
        "waits for an answer to gate:\n  flowdsl run --resume one --fake gate.return=VALUE\n"
    )
    assert flowdsl("--resume", "one", "--approve").code == 4, "an answer is needed"
    done = flowdsl("--resume", "one", "--fake", "gate=me")
    assert done.code == 4
    assert done.err.endswith("waits for somebody to approve door:\n  flowdsl run --resume one --approve\n")
    done = flowdsl("--resume", "one", "--approve")
    assert done.code == 0
    assert "1 step has ended before\n" in done.err
    assert ["return", "hello", "me"] in rows(done.out)
    done = flowdsl("--resume", "one")
    assert done.code == 0
    assert done.err == "the run one has ended; this is its end\n"
    assert ["return", "hello", "me"] in rows(done.out)


def test_a_run_that_is_not_there(flowdsl: Callable[..., Result]) -> None:
    assert "there is no run `two` in .flowdsl/runs\n" in flowdsl("--resume", "two").err
    flowdsl("gate.py", "--name", "twice")
    assert (
        "there is no run `twise` in .flowdsl/runs; did you mean `twice`?" in flowdsl("--resume", "twise").err
    )
    assert "leave out the file" in flowdsl("gate.py", "--resume", "twice").err
    assert "leave out -p, --name" in flowdsl("--resume", "twice", "-p", "a=1", "--name", "b").err


def test_an_interrupted_run_goes_on(flowdsl: Callable[..., Result], folder: Path) -> None:
    command = [sys.executable, "-m", "flowdsl.cli", "run", "steps.yaml", "library.yaml", "--name", "one"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, "-p", "seconds=60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as child:
        journal = folder / ".flowdsl/runs/one/journal.jsonl"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if journal.exists() and journal.read_text(encoding="utf-8").count('"event":"ended"') == 3:
                break
            time.sleep(0.05)
        busy = flowdsl("--resume", "one")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    assert (busy.code, busy.err) == (2, "flowdsl: the run one is going on in another process\n")
    assert (child.returncode, out) == (130, "")
    assert err.endswith("interrupted: nothing of it runs any more; go on with\n  flowdsl run --resume one\n")
    done = flowdsl("--resume", "one", "--fake", "sleep=")
    assert done.code == 0
    assert done.err.startswith("3 steps have ended before\n")
    assert done.err.endswith("sleep: faked\n")
