"""`flowdsl run`: what is shown, what is refused, and how a run is taken up again."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from flowdsl.cli.app import run
from flowdsl.runtime.local import journal
from flowdsl.runtime.local.caches import Caches
from flowdsl.runtime.local.controller.cache import Entry
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.rounds import value_of
from flowdsl.runtime.local.runner import Executor, Runner

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
        arguments: {parameters: [{name: "n", value: "{{item}}"}]}
        withItems: [1, 2]
      - name: lib
        templateRef: {name: lib, template: shout}
    - - name: sleep
        template: sleep
  - name: say
    inputs: {parameters: [{name: "n"}]}
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
    """The words of each line of a text, without times."""
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


def test_the_end_fits_into_the_columns_that_there_are(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    steps, rounds, *_ = flowdsl("pipeline.py", "-q").out.split("\n\n")
    assert ["never", "Skipped", "when", "'false..."] in rows(steps)
    assert ["1", "2.0", "Failed:", "ValueError:", "to..."] in rows(rounds)
    assert max(map(len, [*steps.splitlines(), *rounds.splitlines()[1:]])) <= 40


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
def test_an_end_that_cannot_be_written_is_not_lost(folder: Path, flowdsl: Callable[..., Result]) -> None:
    command = [sys.executable, "-m", "flowdsl.cli", "run", "gate.py", "-q", "--name", "one", "--approve"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*command, "--fake", "gate=you"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert done.returncode == 4
    assert done.stderr == (
        "flowdsl: standard output cannot be written: No space left on device: the run has ended; "
        "when that is mended, see its end with\n  flowdsl run --resume one\n"
    )
    again = flowdsl("--resume", "one", "-q")
    assert (again.code, ["return", "hello", "you"] in rows(again.out)) == (0, True)


def test_a_line_for_each_change(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--name", "one")
    lines = [re.sub(r"after \d+\.\ds", "after T", line) for line in done.err.splitlines()]
    lines = [line for line in lines if not line.startswith("note: This system gives")]  # not every one does
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
    assert flowdsl("pipeline.py", "-q", "--name", "one").code == 0
    done = flowdsl("pipeline.py", "--only", "attempt(2)", "-q")
    assert ["loss", "0.5"] in rows(done.out)
    for round_ in ("runs(2)", "runs.attempt(2)"):  # its names at the end of the run, and in `get` and `logs`
        assert ["loss", "0.5"] in rows(flowdsl("pipeline.py", "--only", round_, "--of", "one", "-q").out)
    done = flowdsl("pipeline.py", "--only", "runs(7)", "--of", "one", "-q")
    assert done.err.startswith("flowdsl: --only runs(7): the run one has no step `runs(7)`")
    done = flowdsl("pipeline.py", "--only", "runs", "-q")
    assert done.code == 0
    assert ["2", "0.25", "0.5", "best"] in rows(done.out)
    assert "after a change" not in done.out


def test_a_loop_of_one_round_shows_its_item(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "one.py").write_text(
        """\
from flowdsl import fan_out, pipeline, step

@step(image="python:3.12-slim")
def half(number: float) -> float:
    return number / 2

@pipeline
def halves() -> list[float]:
    return fan_out(half, over={"number": [1.5]})
"""
    )
    lines = rows(flowdsl("one.py", "-q").out)
    assert ["#", "number", "return"] in lines
    assert ["0", "1.5", "0.75"] in lines


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
    assert (
        json.loads(flowdsl("pipeline.py", "-o", "json", "--name", "two").out)["outputs"] == found["outputs"]
    )


def test_a_run_that_fails_shows_the_log_and_how_to_go_on(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--name", "one", "-p", "mode=SLOW")
    assert done.code == 1
    assert "publish failed; the end of .flowdsl/runs/one/logs/one-" in done.out
    assert "  | publishing SLOW\n" in done.out
    assert "after a change: flowdsl run pipeline.py --from publish --of one\n" in done.out


SILENT = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: silent}
spec:
  entrypoint: main
  templates:
  - name: main
    dag:
      failFast: false
      tasks:
      - {name: a, template: silent}
      - {name: b, template: silent}
      - {name: c, template: silent}
      - {name: d, template: silent}
      - {name: loud, template: loud}
  - name: silent
    container: {image: "busybox:1.36", command: [sh, -c, exit 3]}
  - name: loud
    container: {image: "busybox:1.36", command: [sh, -c, echo no room; exit 3]}
"""


def test_logs_are_shown_of_the_steps_that_wrote_any(folder: Path, flowdsl: Callable[..., Result]) -> None:
    (folder / "silent.yaml").write_text(SILENT)
    done = flowdsl("silent.yaml", "-q")
    assert done.code == 1
    assert "loud failed; the end of .flowdsl/runs/silent/logs/silent-" in done.out
    assert "  | no room\n" in done.out
    assert "more step" not in done.out


STEERING = r"""
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: steering}
spec:
  entrypoint: main
  templates:
  - name: main
    outputs:
      parameters:
      - {name: out, valueFrom: {parameter: "{{tasks.once.outputs.parameters.out}}"}}
    dag:
      tasks:
      - {name: once, template: write, arguments: {parameters: [{name: word, value: once}]}}
      - name: each
        template: write
        withItems: [one, "two\u202E"]
        arguments: {parameters: [{name: word, value: "{{item}}"}]}
  - name: write
    inputs: {parameters: [{name: word}]}
    outputs:
      parameters:
      - {name: out, valueFrom: {path: /tmp/out}}
    container:
      image: busybox:1.36
      command: [sh, -c, 'printf "\\033[31m%s\\007" "$1" > /tmp/out', sh, "{{inputs.parameters.word}}"]
"""


def test_nothing_that_steps_gave_steers_the_terminal(folder: Path, flowdsl: Callable[..., Result]) -> None:
    (folder / "steering.yaml").write_text(STEERING, encoding="utf-8")
    done = flowdsl("steering.yaml")
    assert done.code == 0
    assert ["1", r"two\u202e", r"\x1b[31mtwo\u202e\x07"] in rows(done.out)
    assert r"  out  \x1b[31monce\x07" in done.out
    assert {"\x1b", "\x07", "\u202e"}.isdisjoint(done.out + done.err)


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
    from flowdsl.cli.display.live import Row, fitted

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
        (["-p", "n=three"], "-p n=three: `n` is int: it is not a whole number"),
        (["-p", "mode=fast"], "`mode` is Mode: it must be one of FAST, SLOW; did you mean `FAST`?"),
        (
            ["-p", "n=three", "-p", "mode=SLOW", "-p", "m=3"],
            "2 parameters are wrong:\n  -p n=three: `n` is int: it is not a whole number\n  -p m: the pipeline",
        ),
        (["-p", "n"], "-p n: write -p NAME=VALUE"),
        (["-p", "n=1", "-p", "n=2"], "-p n is given twice"),
        (["--fake", "prepair=1"], "--fake prepair: there is no step `prepair`; did you mean `prepare`?"),
        (["--fake", "prepair=abc"], "--fake prepair: there is no step `prepair`; did you mean `prepare`?"),
        (["--fake", "x=1"], "no step `x`; there are search, base, runs, never, publish, attempt\n"),
        (["--fake", "attempt=1"], "it has several outputs: --fake attempt.loss=... --fake attempt.model=..."),
        (["--fake", "attempt.los=1"], "`attempt` has no output `los`; did you mean `loss`?"),
        (["--fake", "attempt.model=pipeline.py"], "the output `loss` needs a value too"),
        (["--fake", "prepare.x=1"], "`prepare` has no output `x`; there is return\n"),
        (["--fake", "runs=1"], "`runs` is a graph of steps; name one of these: attempt"),
        (["--mount", "data=."], "--mount data: the workflow has no claim `data`; it has none"),
        (["--mount", "data=no/where"], "there is no no"),
        (["--mount", "data="], "--mount data=: the path is empty; the current folder is --mount data=."),
        (["--artifact", "raw=nowhere"], "--artifact raw=nowhere: there is no nowhere"),
        (["--only", "publish"], "there is no earlier run of search in .flowdsl/runs: run all of it first"),
        (["--only", "a", "--from", "b"], "--only runs one step, --from it and what follows"),
        (["--of", "one"], "--of names the earlier run for --only or --from"),
        (["--name", "No_"], "--name No_: a name has small letters"),
        (["--python", "pythno"], "--python pythno: there is no such program"),
        (["--python", "true"], "--python true: it is not an interpreter of Python 3"),
        (["--python", "ls"], "--python ls: it is not an interpreter of Python 3: "),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(
    arguments: list[str], message: str, flowdsl: Callable[..., Result]
) -> None:
    done = flowdsl("pipeline.py", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not Path(".flowdsl").exists()


def test_a_shim_stands_for_the_interpreter_that_it_finds(
    flowdsl: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = folder / "shims" / "python-of-a-tool"
    shim.parent.mkdir()
    shim.write_text('#!/bin/sh\nexec "$FOUND" "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    monkeypatch.setenv("FOUND", sys.executable)
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    assert flowdsl("pipeline.py", "--python", shim.name).code == 0


def test_outputs_are_shown_in_the_order_in_which_they_are_declared(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    changed = PIPELINE.replace(
        "mode: Mode = Mode.FAST) -> str:", "mode: Mode = Mode.FAST) -> tuple[Path, str, int]:"
    )
    changed = changed.replace("return publish(", "return runs.best.model, publish(").replace(
        "best.model, mode)", "best.model, mode), base"
    )
    (folder / "pipeline.py").write_text(changed, encoding="utf-8")
    done = flowdsl("pipeline.py", "--name", "ordered", "--quiet")
    assert done.code == 0, done.err
    shown = done.out.partition("outputs\n")[2].splitlines()[:3]
    assert [line.split()[0] for line in shown] == ["item-0", "item-1", "item-2"]


LONG_TEXT = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def report(count: int) -> str:
    return "a/b " * count


@pipeline
def study(count: int = 2000) -> str:
    return report(count)
"""


def test_a_long_text_with_a_slash_is_not_taken_for_a_file(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "pipeline.py").write_text(LONG_TEXT)
    assert json.loads(flowdsl("pipeline.py", "--json").out)["outputs"] == {"return": "a/b " * 2000}


def test_findings_stop_a_run(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "pipeline.py").write_text(PIPELINE.replace("prepare(n)", "prepare(m=n)"), encoding="utf-8")
    done = flowdsl("pipeline.py")
    assert done.code == 2
    assert "error[FD203]" in done.err
    assert not Path(".flowdsl").exists()


def test_what_a_file_lacks_is_named(flowdsl: Callable[..., Result]) -> None:
    assert "of the WorkflowTemplate lib, which is not here: name its file, too" in flowdsl("steps.yaml").err
    assert "one of small, large, not `tiny`" in flowdsl("steps.yaml", "library.yaml", "-p", "size=tiny").err
    assert "did you mean `size`?" in flowdsl("steps.yaml", "library.yaml", "-p", "sise=large").err
    assert "name a file to run" in flowdsl().err
    assert flowdsl("nowhere.py").code == 2


def test_several_pipelines_need_a_name(flowdsl: Callable[..., Result], folder: Path) -> None:
    more = "\n\n@pipeline\ndef other() -> None:\n    never()\n"
    (folder / "pipeline.py").write_text(PIPELINE + more, encoding="utf-8")
    assert "there are several to run: search, other" in flowdsl("pipeline.py").err
    assert flowdsl("pipeline.py:other", "-q").code == 0


def test_a_file_of_several_workflows_needs_a_name(flowdsl: Callable[..., Result], folder: Path) -> None:
    workflows = [STEPS.replace("generateName: hello-", f"generateName: {name}-") for name in ("day", "night")]
    (folder / "both.yaml").write_text("---\n".join([*workflows, LIBRARY]), encoding="utf-8")
    assert "there are several to run: day, night; name one of them: FILE:NAME" in flowdsl("both.yaml").err
    assert "\nnight-" in flowdsl("both.yaml:night", "-q").out
    other = flowdsl("both.yaml:noon")
    assert other.code == 2
    assert "both.yaml:noon: there is no `noon` in that file; there is day, night, lib" in other.err
    assert "there is no Workflow, CronWorkflow or template with an entrypoint" in flowdsl("both.yaml:lib").err


def test_the_first_file_is_the_one_that_is_run(flowdsl: Callable[..., Result], folder: Path) -> None:
    alone = LIBRARY.replace("spec:\n", "spec:\n  entrypoint: shout\n")
    (folder / "library.yaml").write_text(alone, encoding="utf-8")
    assert "\nlib-" in flowdsl("library.yaml", "steps.yaml", "-q").out
    assert "\nhello-" in flowdsl("steps.yaml", "library.yaml", "-q").out
    (folder / "library.yaml").write_text(LIBRARY, encoding="utf-8")
    assert "\nhello-" in flowdsl("library.yaml", "steps.yaml", "-q").out


# --- parts of a run, and runs that are taken up again -------------------------------------------------


@pytest.mark.parametrize("retries", ["", "    retryStrategy: {limit: 1}\n"])
def test_several_files_and_steps(retries: str, flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "steps.yaml").write_text(
        STEPS.replace("  - name: say\n    in", f"  - name: say\n{retries}    in")
    )
    done = flowdsl("steps.yaml", "library.yaml", "--name", "one")
    assert done.code == 0
    assert ["say", "Succeeded", "2", "rounds"] in rows(done.out)
    assert "say(1): started\n" in done.err
    which = flowdsl("steps.yaml", "library.yaml", "--only", "say", "--of", "one", "-q")
    assert (which.code, "it has 2 rounds, name one of them: 'say(0)', 'say(1)'" in which.err) == (
        2,
        True,
    )
    again = flowdsl("steps.yaml", "library.yaml", "--only", "say(1)", "--of", "@latest", "-q")
    assert ["r", "2"] in rows(again.out)


def test_a_step_that_is_faked(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--fake", "attempt.loss=7", "--fake", "attempt.model=pipeline.py", "-q")
    assert done.code == 0
    assert ["0", "0.5", "7.0", "best"] in rows(done.out)


TWICE = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def read(x: int) -> int:
    return x


@step(image="python:3.12-slim")
def add(x: int, y: int) -> int:
    return x + y


@pipeline
def twice() -> int:
    first = read(1)
    second = read(2)
    return add(first, second)
"""


def test_a_step_that_is_called_twice_is_faked_by_its_task(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "twice.py").write_text(TWICE, encoding="utf-8")
    for task, total in (("first", "7"), ("second", "6"), ("read", "10")):
        done = flowdsl("twice.py", "--fake", f"{task}=5", "-q")
        assert ["return", total] in rows(done.out)


LEAVES = """
from flowdsl import http, manifest, pipeline, request, resource, step


@http
def ask(url: str) -> str:
    return request("GET", url)


@http
def post(url: str) -> None:
    return request("POST", url)


@resource("apply")
def apply(name: str) -> None:
    return manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


@step(image="python:3.12-slim")
def shout(text: str) -> str:
    return text + "!"


@pipeline
def leaves() -> str:
    post("http://localhost")
    apply("made")
    return shout(ask("http://localhost"))
"""


def test_requests_and_objects_that_are_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "leaves.py").write_text(LEAVES)
    for answer in ("ask=yes", "ask.return=yes"):
        done = flowdsl("leaves.py", "--fake", answer, "--fake", "post=", "--fake", "apply=", "-q")
        assert (done.code, ["return", "yes!"] in rows(done.out)) == (0, True)


INLINE = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: inline-}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - {name: ask, inline: {script: {image: "alpine:3.20", command: [none], source: asks}}}
    - - name: say
        inline: {container: {image: "alpine:3.20", command: [echo, "heard {{steps.ask.outputs.result}}"]}}
"""


def test_a_step_with_an_inline_template_that_is_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "inline.yaml").write_text(INLINE)
    done = flowdsl("inline.yaml", "--fake", "ask=yes", "--fake", "say=x", "-q")
    assert (done.code, "faked" in done.out) == (0, True)


BORROWED = """\
from pathlib import Path
from typing import NamedTuple
from flowdsl import call_template, fan_out, pipeline, step


class Trained(NamedTuple):
    model: Path
    loss: float


@call_template("library", "fit", names={"model": "model-file"})
def fit(rate: float) -> Trained:
    raise NotImplementedError


@call_template("library", "score", cluster=True, names={"return": "score"})
def score(rate: float) -> float:
    raise NotImplementedError


@step(image="python:3.12-slim")
def size(model: Path, loss: float, scores: list[float]) -> float:
    return model.stat().st_size + loss + sum(scores)


@pipeline
def borrowed() -> float:
    trained = fit(0.1)
    return size(trained.model, trained.loss, fan_out(score, over={"rate": [0.1, 0.2]}))
"""


def test_templates_of_the_cluster_that_are_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "library.py").write_text(BORROWED, encoding="utf-8")
    (folder / "four.txt").write_text("four", encoding="utf-8")
    fakes = ["--fake", "trained.model=four.txt", "--fake", "trained.loss=0.5", "--fake", "score=1"]
    done = flowdsl("library.py", *fakes, "-q")
    assert (done.code, "return  6.5" in done.out) == (0, True), done.err
    refused = flowdsl("library.py", *fakes[:-2], "-q")
    assert (refused.code, refused.out) == (2, "")
    assert (
        "the step `score` runs a template of the ClusterWorkflowTemplate library, which is not here: name"
        in refused.err
    )


@pytest.mark.parametrize(
    ("fakes", "said"),
    [
        (["attempt.loss=little"], "--fake attempt.loss=little: `attempt.loss` is float: "),
        (["attempt.loss=7"], "--fake attempt: the file `model` needs a path: --fake attempt.model=PATH"),
    ],
)
def test_a_fake_is_of_the_type_of_the_step(
    flowdsl: Callable[..., Result], fakes: list[str], said: str
) -> None:
    done = flowdsl("pipeline.py", *(word for one in fakes for word in ("--fake", one)))
    assert done.code == 2
    assert said in done.err


ALIKE = """
from flowdsl import pipeline, step

BY = {by}


@step(image="python:3.12-slim")
def train(rows: int) -> int:
    return rows * BY


@pipeline
def part(rows: int) -> int:
    return train(rows)
"""
ALL_ALIKE = """
import one
import other
from flowdsl import pipeline, step


def times(image: str):
    @step(image=image)
    def train(rows: int) -> int:
        return rows * 5

    return train


small, large = times("small:1"), times("large:1")


@pipeline
def alike(rows: int = 1) -> list[int]:
    a, b = one.train.options(name="a")(rows), other.train.options(name="b")(rows)
    c, d = one.part.options(name="c")(rows), other.part.options(name="d")(rows)
    e, f = small.options(name="e")(rows), large.options(name="f")(rows)
    return [a, b, c, d, e, f]
"""


def test_steps_and_pipelines_of_one_name(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "one.py").write_text(ALIKE.format(by=2), encoding="utf-8")
    (folder / "other.py").write_text(ALIKE.format(by=3), encoding="utf-8")
    (folder / "alike.py").write_text(ALL_ALIKE, encoding="utf-8")
    done = flowdsl("alike.py", "--json")
    assert json.loads(done.out)["outputs"] == {"return": [2, 3, 2, 3, 5, 5]}
    assert run(["compile", "alike.py", "-o", "alike.yaml"]) == 0
    written = (folder / "alike.yaml").read_text(encoding="utf-8")
    assert ("image: small:1" in written, "image: large:1" in written) == (True, True)


FOLDER = """
from pathlib import Path

from flowdsl import S3, pipeline, step


@step(image="python:3.12-slim")
def made() -> Path:
    return Path("made")


@step(image="python:3.12-slim")
def names(one: Path, other: Path) -> str:
    return " ".join(sorted(path.name for folder in (one, other) for path in folder.iterdir()))


@pipeline
def folders(given: Path = S3("given")) -> str:
    return names(given, made())
"""


def test_the_folder_that_a_run_is_in(flowdsl: Callable[..., Result], tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    os.chdir(there)
    Path("folder.py").write_text(FOLDER, encoding="utf-8")
    for _ in range(2):
        done = flowdsl("folder.py", "-p", "given=.", "--fake", "made=.", "-q")
        assert (done.code, ["return", "folder.py", "folder.py"] in rows(done.out)) == (0, True)
    done = flowdsl("folder.py", "-p", "given=", "-q")
    assert done.err == "flowdsl: -p given=: the path is empty; the current folder is -p given=.\n"


FILES = """\
from pathlib import Path

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def split() -> list[Path]:
    raise ValueError("not here")


@step(image="python:3.12-slim")
def named() -> dict[str, Path]:
    raise ValueError("not here")


@step(image="python:3.12-slim")
def last() -> Path | None:
    raise ValueError("not here")


@step(image="python:3.12-slim")
def read(one: Path) -> str:
    return one.read_text()


@step(image="python:3.12-slim")
def join(texts: list[str], named: dict[str, Path], last: Path | None) -> str:
    return f"{texts} {sorted(named)} {last}"


@pipeline
def files() -> str:
    return join(fan_out(read, over={"one": split()}), named(), last())
"""


def test_files_that_are_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "files.py").write_text(FILES)
    (folder / "a.txt").write_text("one")
    fakes = ["--fake", 'named={"x": "a.txt"}', "--fake", "last=null", "-q"]
    done = flowdsl("files.py", "--fake", 'split=["a.txt", "a.txt"]', *fakes)
    assert (done.code, ["return", "['one',", "'one']", "['x']", "None"] in rows(done.out)) == (0, True)
    runs = sorted(Path(".flowdsl/runs").iterdir())
    done = flowdsl("files.py", "--fake", 'split=["a.txt"]', "--fake", "all=1")
    assert (done.code, "there is no step `all`" in done.err) == (2, True)
    assert sorted(Path(".flowdsl/runs").iterdir()) == runs, "a run that is refused leaves nothing"
    done = flowdsl("files.py", "--fake", 'split=["b.txt"]', *fakes)
    assert (done.code, "`split` is list[Path]: the path " in done.err) == (2, True)
    done = flowdsl("files.py", "--fake", "split=a.txt", *fakes)
    assert (done.code, "`split` is list[Path]: it is not JSON, such as " in done.err) == (2, True)
    done = flowdsl("files.py", "--fake", 'split=["a.txt"]', *fakes[:2], "--fake", "last=")
    assert done.code == 0


def test_what_is_faked_may_be_named_as_in_python(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "named.py").write_text(NAMED, encoding="utf-8")
    assert (
        "--fake load_rows=three: `load_rows` is int: it is not a whole number"
        in flowdsl("named.py", "--fake", "load_rows=three").err
    )
    (folder / "files.py").write_text(FILES.replace("split", "split_up"))
    (folder / "a.txt").write_text("one")
    fakes = ("--fake", 'split_up=["a.txt"]', "--fake", 'named.return={"x": "a.txt"}', "--fake", "last=null")
    assert flowdsl("files.py", *fakes, "-q").code == 0


def test_files_that_a_manifest_cannot_have_faked(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "files.py").write_text(FILES)
    assert run(["compile", "files.py", "-o", "files.yaml"]) == 0
    done = flowdsl("files.yaml", "--fake", "split=a.txt")
    assert done.code == 2
    assert "flowdsl-" not in done.err
    assert "can be faked where the pipeline itself is run" in done.err


def test_a_gate_says_what_it_takes(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "gate.py").write_text(
        GATE.replace("-> str:\n    raise", "-> bool:\n    raise").replace("who: str", "who: bool")
    )
    assert (
        "--fake gate=maybe: `gate` is bool: it must be true or false"
        in flowdsl("gate.py", "--fake", "gate=maybe").err
    )
    done = flowdsl("gate.py", "--name", "one")
    assert done.code == 4
    assert done.err.endswith("--fake gate.return=VALUE\n  gate.return is one of true, false\n")
    done = flowdsl("--resume", "one", "--fake", "gate=maybe")
    assert done.code == 2
    assert "--fake gate=maybe: `return` is one of true, false" in done.err
    assert run(["compile", "gate.py", "-o", "gate.yaml"]) == 0
    runs = sorted(Path(".flowdsl/runs").iterdir())
    done = flowdsl("gate.yaml", "--fake", "gate=maybe")
    assert (done.code, done.err) == (2, "flowdsl: --fake gate=maybe: `return` is one of true, false\n")
    assert sorted(Path(".flowdsl/runs").iterdir()) == runs, "a run that is refused leaves nothing"
    assert flowdsl("--resume", "one", "--fake", "gate=true", "--approve").code == 0


TRIES = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: tries-}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - {name: gate, template: gate}
      - {name: work, template: work, onExit: bye}
    - - name: last
        template: say
        arguments:
          parameters: [{name: text, value: "{{steps.gate.outputs.parameters.go}} {{steps.work.outputs.parameters.at}}"}]
  - name: gate
    suspend: {duration: 1h}
    inputs: {parameters: [{name: go, default: "yes"}]}
    outputs: {parameters: [{name: go, valueFrom: {supplied: {}}}]}
  - name: work
    retryStrategy: {limit: 2}
    script: {image: "busybox:1.36", command: [sh], source: "echo {{retries}} > /tmp/at; exit $(( {{retries}} < 1 ))"}
    outputs: {parameters: [{name: at, valueFrom: {path: /tmp/at}}]}
  - name: say
    inputs: {parameters: [{name: text}]}
    script: {image: "busybox:1.36", command: [sh], source: "echo {{inputs.parameters.text}} > /tmp/said; exit 3"}
    outputs: {parameters: [{name: said, valueFrom: {path: /tmp/said}}]}
  - {name: bye, container: {image: "busybox:1.36", command: ["true"]}}
"""


def test_what_was_tried_again_or_waited_is_taken_from_an_earlier_run(
    flowdsl: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tries.yaml").write_text(TRIES)
    done = flowdsl("tries.yaml", "--fake", "gate=no", "--name", "one")
    assert (done.code, "gate: succeeded" in done.err) == (1, True), "a gate that is faked waits for no time"
    assert done.out.endswith("after a change: flowdsl run tries.yaml --from last --of one\n")
    done = flowdsl("tries.yaml", "--approve", "--name", "approved")
    assert (done.code, "gate: succeeded" in done.err) == (1, True), "nor one that is approved"
    done = flowdsl("tries.yaml", "--from", "last", "--of", "one", "--name", "two")
    assert (done.code, "last: failed" in done.err) == (1, True)
    done = flowdsl("tries.yaml", "--only", "last", "--of", "two", "--name", "three")
    assert (done.code, ["said", "no", "1"] in rows(done.out)) == (1, True)
    assert done.out.endswith("after a change: flowdsl run tries.yaml --only last --of two\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TRIES.encode())))
    done = flowdsl("-", "--from", "last", "--of", "one", "--name", "four")
    assert done.out.endswith("after a change: flowdsl run - --from last --of four\n")


SERVED = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: served}
spec:
  entrypoint: main
  onExit: bye
  templates:
    - name: main
      steps:
        - [{name: server, template: server}]
        - [{name: first, template: first}]
        - [{name: ask, template: ask, arguments: {parameters: [{name: at, value: "{{steps.server.ip}}"}]}}]
    - {name: server, daemon: true, container: {image: "busybox:1.36", command: [sleep, "600"]}}
    - {name: first, container: {image: "busybox:1.36", command: [sh, -c, ":"]}}
    - name: ask
      inputs: {parameters: [{name: at}]}
      container: {image: "busybox:1.36", command: [sh, -c, "echo {{inputs.parameters.at}}; exit 3"]}
    - {name: bye, container: {image: "busybox:1.36", command: [sleep, "0.5"]}}
"""


def test_a_server_serves_again_what_runs_again(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "served.yaml").write_text(SERVED)
    done = flowdsl("served.yaml", "--name", "one")
    assert ["server", "Failed", "main:", "Error", "(exit", "code", "143)"] in rows(done.out)
    assert done.out.endswith("after a change: flowdsl run served.yaml --from ask --of one\n")
    (folder / "served.yaml").write_text(SERVED.replace("exit 3", "exit 0"))
    done = flowdsl("served.yaml", "--from", "ask", "--of", "one")
    assert (done.code, "server: started" in done.err, "first: started" in done.err) == (0, True, False)


def test_a_stopped_server_did_not_make_a_round_fail(flowdsl: Callable[..., Result], folder: Path) -> None:
    looped = SERVED.replace("  onExit: bye\n", "").replace("entrypoint: main", "entrypoint: loop")
    looped += "    - {name: loop, steps: [[{name: round, template: main, withItems: [1, 2, 3]}]]}\n"
    (folder / "served.yaml").write_text(looped)
    done = flowdsl("served.yaml")
    assert done.code == 1
    failures = [line.partition("Failed: ")[2] for line in done.out.splitlines() if "Failed: " in line]
    assert [one.partition(":")[0] for one in failures] == ["ask"] * 3


def test_a_server_that_is_faked_is_one_at_an_address(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "served.yaml").write_text(SERVED.replace("exit 3", "test {{inputs.parameters.at}} = db.local"))
    done = flowdsl("served.yaml", "--fake", "server=db.local", "--name", "one")
    assert (done.code, "server: serves" in done.err) == (0, True)
    assert flowdsl("served.yaml", "--fake", "server=", "--fake", "ask=", "--name", "two").code == 0


NAMED = """
from flowdsl import pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def load_rows(n: int) -> int:
    return n


@step(image=IMAGE)
def double(x: int) -> int:
    return 2 * x


@pipeline
def main() -> int:
    rows = load_rows(3)
    first = double(rows)
    second = double.options(name="again")(first)
    return second
"""


def test_a_step_by_the_name_of_its_function(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "named.py").write_text(NAMED, encoding="utf-8")
    assert flowdsl("named.py", "-q", "--name", "one").code == 0
    whole = flowdsl("named.py", "--from", "load_rows", "--name", "two")
    assert (whole.code, "from one" in whole.err) == (0, False)
    rest = flowdsl("named.py", "--from", "double", "--of", "one", "--name", "three")
    assert [line for line in rest.err.splitlines() if "from one" in line] == ["rows: from one"]
    assert flowdsl("named.py", "--only", "load_rows", "--of", "one", "-q").code == 0
    which = flowdsl("named.py", "--only", "double", "--of", "one")
    assert which.code == 2
    assert "--only double: several steps call it, name one of them: first, again" in which.err


NESTED = """\
from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def double(x: int) -> int:
    return 2 * x


@pipeline
def inner(x: int) -> int:
    return double(x)


@pipeline
def nested() -> int:
    each = fan_out(inner, over={"x": [3, 4]})
    total = inner(each[0])
    return total
"""


def test_a_step_that_ran_at_several_places_is_named_by_the_way_to_it(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "nested.py").write_text(NESTED, encoding="utf-8")
    assert flowdsl("nested.py", "-q", "--name", "one").code == 0
    only = partial(flowdsl, "nested.py", "-q", "--of", "one", "--only")
    which = only("double")
    assert which.code == 2
    assert "--only double: it ran 3 times, name one of them: 'each.inner(" in which.err
    for name in re.findall("'(.*?)'", which.err):
        assert only(name).code == 0
    assert ["return", "8"] in rows(only("each(1).double").out)
    assert ["return", "12"] in rows(only("total.double").out)


def test_from_a_step_on(flowdsl: Callable[..., Result]) -> None:
    assert flowdsl("pipeline.py", "--name", "one", "-p", "n=4", "-p", "mode=SLOW").code == 1
    done = flowdsl("pipeline.py", "--from", "publish", "--name", "two", "-p", "mode=FAST")
    assert done.code == 0
    assert "base: from one\n" in done.err
    assert "runs.attempt(1): from one\n" in done.err
    assert "publish: started\n" in done.err
    assert ["2", "0.25", "1.0", "best"] in rows(done.out), "with the parameter of the earlier run"
    only = flowdsl("pipeline.py", "--only", "publish", "--of", "one", "-p", "mode=FAST")
    assert [line[:2] for line in rows(only.out)][1] == ["publish", "Failed"], "with the inputs that it had"
    assert "note: -p mode is not used: publish alone has the inputs that it had in one\n" in only.err
    plain = flowdsl("steps.yaml", "library.yaml", "--name", "plain", "-p", "seconds=0.1", "-q")
    again = flowdsl("steps.yaml", "library.yaml", "--only", "sleep", "-p", "seconds=0")
    assert (plain.code, again.code, "is not used" in again.err) == (0, 0, False)
    wrong = flowdsl("pipeline.py", "--from", "publsh")
    assert wrong.code == 2
    assert "the run two has no step `publsh`; did you mean `publish`?" in wrong.err


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            'train(config["a"]["lr"])',
            "train: `a` of the parameter `config` has no key `lr`: did you mean `lrs`?",
        ),
        ('train(config["b"]["lr"])', "train: the parameter `config` has no key `b`: there is `a`"),
        ('train(made()["lr"] + 1)', "train: the result of `made` has no key `lr`: there are `rate`, `n`"),
        (
            'fan_out(train, over={"rate": [made()["x"], 1.0]})',
            "train: the result of `made` has no key `x`:",
        ),
        ("train(made().get('lr', 2.0))", None),
    ],
)
def test_a_key_that_a_value_does_not_have(
    flowdsl: Callable[..., Result], folder: Path, call: str, said: str | None
) -> None:
    (folder / "keys.py").write_text(
        f"""\
from flowdsl import fan_out, pipeline, step

@step(image="python:3.12-slim")
def made() -> dict[str, float]:
    return {{"rate": 0.1, "n": 1.0}}

@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate

@pipeline
def nightly(config: dict[str, dict[str, float]] = {{"a": {{"lrs": 1.0}}}}) -> None:
    {call}
"""
    )
    done = flowdsl("keys.py", "-q")
    found = [line for line in done.out.splitlines() if "has no key" in line]
    assert [line[: len(said or "")] for line in found] == ([] if said is None else [said])


def test_a_round_that_prints_no_json_is_named(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "rounds.yaml").write_text(
        """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: rounds}
spec:
  entrypoint: main
  templates:
    - name: main
      steps:
        - - {name: each, template: each, withItems: [1, 2], arguments: {parameters: [{name: x, value: "{{item}}"}]}}
        - - {name: all, template: all, arguments: {parameters: [{name: x, value: "{{steps.each.outputs.result}}"}]}}
    - name: each
      inputs: {parameters: [{name: x}]}
      container: {image: "busybox:1.36", command: [sh, -c, "test {{inputs.parameters.x}} = 1 && echo 1 || uname"]}
    - name: all
      inputs: {parameters: [{name: x}]}
      container: {image: "busybox:1.36", command: [echo, "{{inputs.parameters.x}}"]}
"""
    )
    done = flowdsl("rounds.yaml", "-q")
    assert (done.code, "invalid character 'L' looking for beginning of value" in done.out) == (1, True)
    (said,) = [line for line in done.out.splitlines() if "printed" in line]
    assert said.startswith('each(1): it printed "Linux", and Argo reads each result of a loop as JSON: ')


LIMITED = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: limited}
spec:
  entrypoint: main
  arguments: {parameters: [{name: word}]}
  templates:
    - name: main
      inputs:
        parameters:
          - {name: size, valueFrom: {configMapKeyRef: {name: limits, key: size}}}
      synchronization: {semaphores: [{configMapKeyRef: {name: limits, key: places}}]}
      container:
        image: "busybox:1.36"
        command: [sh, -c, "echo {{workflow.parameters.word}} {{inputs.parameters.size}} $TOKEN"]
        env:
          - {name: TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}
"""
OBJECTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, labels: {workflows.argoproj.io/configmap-type: Parameter}}
data: {size: "7", places: "2"}
---
apiVersion: v1
kind: Secret
metadata: {name: hub}
data: {token: YWJj}
"""


def test_config_maps_and_secrets_of_the_files(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "all.yaml").write_text(f"{LIMITED}---{OBJECTS}")
    (folder / "limited.yaml").write_text(LIMITED)
    (folder / "objects.yaml").write_text(OBJECTS)
    (folder / "other.yaml").write_text(LIMITED.replace("name: limited", "name: other"))
    (folder / "size").write_text("size=8\nplaces=1\n")

    def printed(*words: str) -> str:
        done = flowdsl(*words, "-p", "word=hi")
        assert (done.code, "warning" in done.err) == (0, False)
        assert ("other: not run" in done.err) == ("other.yaml" in words)
        newest = max((folder / ".flowdsl/runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        (log,) = newest.glob("logs/*/main.log")
        return log.read_text()

    assert printed("all.yaml") == "hi 7 abc\n"
    assert printed("limited.yaml", "objects.yaml", "other.yaml") == "hi 7 abc\n"
    assert printed("all.yaml", "--config-map", "limits=size") == "hi 8 abc\n", "an option comes first"
    assert (
        printed("limited.yaml", "--config-map", "limits=objects.yaml", "--secret", "hub=all.yaml")
        == "hi 7 abc\n"
    )
    done = flowdsl("limited.yaml", "-p", "word=hi", "--secret", "hub=limited.yaml")
    assert done.code == 2
    assert "there is no Secret `hub` in that file; there is Workflow `limited`" in done.err


SINGLE = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: single}
spec:
  entrypoint: greet
  arguments: {parameters: [{name: who, value: you}]}
  templates:
  - name: greet
    inputs: {parameters: [{name: who}]}
    script: {image: "alpine:3.22", command: [sh], source: "echo hello {{inputs.parameters.who}}"}
"""


@pytest.mark.parametrize("word", ["--only", "--from"])
def test_the_step_of_a_run_that_has_no_other(word: str, flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "single.yaml").write_text(SINGLE, encoding="utf-8")
    assert flowdsl("single.yaml", "-q", "-p", "who=her", "--name", "one").code == 0
    assert flowdsl("single.yaml", word, "greet", "--of", "one", "--name", "two", "-q").code == 0
    found = json.loads((folder / ".flowdsl/runs/two/workflow.json").read_text(encoding="utf-8"))
    assert found["status"]["nodes"]["two"]["inputs"]["parameters"] == [{"name": "who", "value": "her"}]


def test_a_step_alone_that_takes_more_than_before(flowdsl: Callable[..., Result], folder: Path) -> None:
    text = """\
from pathlib import Path
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def rows() -> int:
    return 3

@step(image="python:3.12-slim")
def notes() -> Path:
    Path("notes.txt").write_text("notes")
    return Path("notes.txt")

@step(image="python:3.12-slim")
def train(rows: int, rate: float = 0.5) -> float:
    return rows * rate

@pipeline
def nightly() -> float:
    return train(rows())
"""
    (folder / "grown.py").write_text(text)
    assert flowdsl("grown.py", "-q", "--name", "one").code == 0
    grown = text.replace("rate: float = 0.5)", "epochs: int, notes: Path, rate: float = 0.5)")
    (folder / "grown.py").write_text(
        grown.replace("train(rows())", "train(rows(), rows.options(name='more')(), notes())")
    )
    wrong = flowdsl("grown.py", "--only", "train", "--of", "one")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == (
        "flowdsl: --only train: in the run one it did not have the inputs `epochs`, `notes`: "
        "run it with what it needs and what follows it, --from train\n"
    )
    done = flowdsl("grown.py", "--from", "train", "--of", "one", "-q")
    assert ["return", "1.5"] in rows(done.out)


def test_a_part_takes_the_files_of_the_earlier_run(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "raw.txt").write_text("a few words")
    (folder / "data").mkdir()
    (folder / "data/more.txt").write_text("and more")
    (folder / "files.py").write_text(
        """\
from pathlib import Path
from flowdsl import S3, Volume, pipeline, step

@step(image="python:3.12-slim")
def joined(first: Path, second: Path) -> Path:
    out = Path("corpus.txt")
    out.write_text(first.read_text() + second.read_text())
    return out

@step(image="python:3.12-slim")
def size(corpus: Path) -> int:
    return len(corpus.read_text())

@pipeline
def files(raw: Path = S3("raw.txt"), more: Path = Volume("data") / "more.txt") -> int:
    corpus = joined(raw, more)
    return size(corpus)
"""
    )
    mount = ("--mount", "data=data")
    for name, given in (("one", ("--artifact", "raw=raw.txt")), ("two", ("-p", "raw=raw.txt"))):
        assert flowdsl("files.py", "-q", "--name", name, *mount, *given).code == 0
        for part in (("--only", "size"), ("--only", "corpus"), ("--from", "size"), ("--from", "corpus")):
            done = flowdsl("files.py", "-q", *part, "--of", name)
            assert (done.code, done.err) == (0, ""), (name, part)
            assert ["return", "19"] in rows(done.out) or part == ("--only", "corpus")
    (folder / "other.txt").write_text("others")
    done = flowdsl("files.py", "-q", "--from", "corpus", "--of", "two", "-p", "raw=other.txt")
    assert ["return", "14"] in rows(done.out), done.err
    wrong = flowdsl("files.py", "--only", "size", "--of", "one", "--artifact", "copus=raw.txt")
    assert "--artifact copus: the workflow has no artifact `copus`; did you mean `corpus`?" in wrong.err
    shutil.rmtree(folder / ".flowdsl/runs/one/artifacts")
    assert (
        "give the file with --artifact corpus=PATH"
        in flowdsl("files.py", "--only", "size", "--of", "one").err
    )


def test_from_a_step_on_lists_of_files_are_found_and_the_end_is_told_again(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "files.py").write_text(
        """\
from pathlib import Path
from flowdsl import fan_out, on_exit, pipeline, run, step

@step(image="python:3.12-slim")
def make(i: int) -> Path:
    Path("made").write_text(str(i))
    print("made", i)
    return Path("made")

@step(image="python:3.12-slim")
def join(files: list[Path], limit: int) -> int:
    found = sum(int(one.read_text()) for one in files)
    assert found < limit
    return found

@step(image="python:3.12-slim")
def tell(status: str) -> None:
    print("it", status)

@pipeline
def files(limit: int = 1) -> int:
    with on_exit():
        tell(run.status)
    return join(fan_out(make, over={"i": [1, 2]}), limit)
"""
    )
    assert flowdsl("files.py", "--name", "one").code == 1
    assert flowdsl("files.py", "--from", "join", "--of", "one", "--name", "two").code == 1
    done = flowdsl("files.py", "--from", "join", "--of", "two", "--name", "three", "-p", "limit=9")
    assert done.code == 0
    assert ["return", "3"] in rows(done.out)
    assert "make(1): from two\n" in done.err
    logs = sorted(path.read_text() for path in folder.glob(".flowdsl/runs/three/logs/*/*.log"))
    assert [log for log in logs if log] == ["it Succeeded\n", "made 1\n", "made 2\n"]


def test_what_runs_at_the_end_of_a_failed_task_has_a_value_instead(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "end.py").write_text(
        """\
from flowdsl import either, on_exit, pipeline, step

@step(image="python:3.12-slim")
def train(part: int) -> float:
    return 1 / part

@step(image="python:3.12-slim")
def tell(text: str, loss: float) -> None:
    print(text, loss)

@pipeline
def end(part: int = 0) -> None:
    loss = train(part)
    with on_exit(loss) as training:
        tell(f"{training.status}: {either(loss, -1.0)}", either(loss * 2, -2.0))
"""
    )
    for part, told in (("0", "Failed: -1.0 -2.0"), ("4", "Succeeded: 0.25 0.5")):
        name = f"run-{part}"
        assert flowdsl("end.py", "-p", f"part={part}", "--name", name).code == (part == "0")
        logs = folder.glob(f".flowdsl/runs/{name}/logs/*/*.log")
        assert f"{told}\n" in "".join(path.read_text() for path in logs)


def test_a_choice_takes_a_record_as_it_is_and_lists_of_computed_values(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "choice.py").write_text(
        """\
from typing import NamedTuple
from flowdsl import either, pipeline, step, when

class Trained(NamedTuple):
    loss: float
    stopped: int | None

@step(image="python:3.12-slim")
def train(loss: float, stopped: int | None) -> Trained:
    return Trained(loss, stopped)

@step(image="python:3.12-slim")
def shown(trained: Trained, sizes: list[int]) -> str:
    return f"{trained.loss} {trained.stopped} {sizes}"

@step(image="python:3.12-slim")
def sized() -> list[int]:
    return [7]

@pipeline
def choice(n: int = 1, given: dict[str, int] = {"a": 5}) -> str:
    old = train(0.9, 3)
    with when(n > 1):
        new = train(0.1, None)
        sizes = sized()
    return shown(either(new, old), either(sizes, [n, n * 2, given["a"]]))
"""
    )
    for n, said in (("1", "0.9 3 [1, 2, 5]"), ("2", "0.1 None [7]")):
        done = flowdsl("choice.py", "-p", f"n={n}")
        assert (done.code, ["return", *said.split()] in rows(done.out)) == (0, True)


def test_text_that_ends_in_a_brace_is_text(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "text.py").write_text(
        """\
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def count() -> int:
    return 7

@step(image="python:3.12-slim")
def size(text: str) -> int:
    return len(text)

@pipeline
def text(prefix: str = "rows = {") -> int:
    return size(f"{prefix}{count()}")
"""
    )
    done = flowdsl("text.py")
    assert (done.code, ["return", "9"] in rows(done.out)) == (0, True)


def test_a_name_is_used_once(flowdsl: Callable[..., Result]) -> None:
    assert flowdsl("gate.py", "--name", "one").code == 4
    done = flowdsl("gate.py", "--name", "one")
    assert done.code == 2
    assert "there is a run `one` already: choose another name, or continue it: --resume one" in done.err


SAID = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def say(t: str) -> None:
    print(t)


@pipeline
def p(t: str = "a") -> None:
    say(t)
"""


RATES = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float, seed: int) -> float:
    return rate * seed


@pipeline
def rates(rates: list[float] = [0.1, 0.2], config: dict[str, int] = {"seed": 1}) -> float:
    return train(rates[1], config["seed"])
"""

WAITING = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: waiting-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: epochs, value: "3"}, {name: wait, value: 5m}]}
  templates:
    - name: main
      timeout: "{{workflow.parameters.wait}}"
      script:
        image: python:3.12-slim
        command: [python]
        source: print({{=asInt(workflow.parameters.epochs) + 1}})
"""


def test_values_with_which_a_run_fails_are_refused(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "rates.py").write_text(RATES, encoding="utf-8")
    (folder / "waiting.yaml").write_text(WAITING, encoding="utf-8")
    done = flowdsl("rates.py", "-p", "rates=[0.1]", "-p", 'config={"sed": 3}')
    assert done.code == 2
    assert "2 values of parameters are wrong" in done.err
    assert "-p rates=[0.1]: `fromJSON(inputs.parameters['rates'])[1]` fails: index out of range" in done.err
    assert "there is no `seed`" in done.err
    assert "did you mean `sed`?" in done.err
    done = flowdsl("waiting.yaml", "-p", "wait=5", "-p", "epochs=three")
    assert done.code == 2
    assert "-p wait=5: `timeout` is `5`, which is no duration" in done.err
    assert "-p epochs=three: `asInt` takes a text that is a whole number, not `three`" in done.err
    assert not (folder / ".flowdsl/runs").exists()
    assert flowdsl("rates.py", "-p", "rates=[1, 0.5]", "-p", 'config={"seed": 3}').code == 0
    (folder / "rates.py").write_text(RATES.replace("[0.1, 0.2]", "[0.1]"), encoding="utf-8")
    assert "FD872" in flowdsl("rates.py", "-p", 'config={"seed": 3}').err
    done = flowdsl("rates.py", "-p", "rates=[1, 0.5]")
    assert (done.code, "FD872" in done.err) == (0, False)
    assert flowdsl("waiting.yaml", "-p", "wait=5s", "-p", "epochs=4").code == 0


def test_a_parameter_that_argo_cannot_hand_on(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "said.py").write_text(SAID, encoding="utf-8")
    for value in ("a\x1bb", "{{workflow.name}}"):
        done = flowdsl("said.py", "-p", f"t={value}")
        assert (done.code, "-p t=" in done.err, "Argo" in done.err) == (2, True, True)


def test_a_run_of_another_version_can_be_looked_at(flowdsl: Callable[..., Result], folder: Path) -> None:
    flowdsl("gate.py", "--name", "old")
    journal = folder / ".flowdsl/runs/old/journal.jsonl"
    for text in (journal.read_text(encoding="utf-8").replace('"version":1', '"version":99'), ""):
        journal.write_text(text, encoding="utf-8")
        assert run(["get", "old"]) == 0
        assert run(["get", "old", "--rounds"]) == 0
    assert flowdsl("--resume", "old").code == 2


def test_limits_of_what_is_fetched(
    flowdsl: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    flowdsl("gate.py", "--name", "one")
    for option, least in (("--jobs", "at least 1"), ("--max-size", "more than nothing")):
        assert run(["fetch", "one", "-o", "here", option, "0"]) == 2
        assert f"{option} 0: must be {least}" in capsys.readouterr().err


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
    assert "going on: 1 step is done\n" in done.err
    assert ["return", "hello", "me"] in rows(done.out)
    done = flowdsl("--resume", "@latest")
    assert done.code == 0
    assert done.err == "the run one had ended already\n"
    assert ["return", "hello", "me"] in rows(done.out)


def test_a_gate_alone_is_called_as_in_the_whole_run(flowdsl: Callable[..., Result]) -> None:
    given = ("--fake", "gate=me", "--fake", "door=")
    assert flowdsl("gate.py", "--name", "one", *given).code == 0
    done = flowdsl("gate.py", "--only", "gate", "--name", "two")
    assert done.code == 4
    assert done.err.endswith(
        "waits for an answer to gate:\n  flowdsl run --resume two --fake gate.return=VALUE\n"
    )
    assert ["return", "you"] in rows(flowdsl("--resume", "two", "--fake", "gate.return=you").out)


GATES = """\
from typing import Literal

from flowdsl import approve, fan_out, pipeline


@approve()
def gate(n: int) -> Literal["ship", "hold"]:
    raise NotImplementedError


@pipeline
def gates() -> list[str]:
    return fan_out(gate, over={"n": [1, 2]})
"""


def test_one_answer_is_for_all_rounds(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "gates.py").write_text(GATES, encoding="utf-8")
    done = flowdsl("gates.py", "--name", "one")
    assert done.code == 4
    assert done.err.endswith(
        "waits for an answer to gate:\n  flowdsl run --resume one --fake gate.return=VALUE\n"
        "  gate.return is one of ship, hold\n"
    )
    assert flowdsl("--resume", "one", "--fake", "gate.return=ship").code == 0


RELEASE = """\
from typing import Literal, NamedTuple

from flowdsl import approve, pipeline


class Decision(NamedTuple):
    verdict: Literal["ship", "hold"]
    name: str
    copies: int = 3


@approve()
def release(accuracy: float) -> Decision:
    \"\"\"Release this model?\"\"\"
    raise NotImplementedError


@pipeline
def releasing(accuracy: float = 0.5) -> int:
    return release(accuracy).copies
"""


class Terminal(io.StringIO):
    """A terminal with input from a user."""

    def isatty(self) -> bool:
        return True


def test_a_person_is_asked_until_the_answers_fit(
    flowdsl: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "release.py").write_text(RELEASE)
    monkeypatch.setattr(sys, "stdin", Terminal("maybe\nship\n\nme\nmany\n7\ny\n"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    done = flowdsl("release.py", "--name", "one", "--quiet", "-p", "accuracy=0.75")
    assert done.code == 0
    assert ["return", "7"] in rows(done.out)
    verdict, name, copies = (
        f"release: value of {one}: " for one in ("verdict (ship, hold)", "name", "copies [3]")
    )
    assert done.err.splitlines() == [
        "release: accuracy is 0.75",
        "release: Release this model?",
        f"{verdict * 2}{name * 2}{copies}release: copies is int: it is not a whole number",
        f"{copies}release: go on? [y/N] ",
    ]


@pytest.mark.parametrize("typed", ["ship\nme\n\nn\n", "ship\nme\n\n", "", "hold\n", "hold\n\n"])
def test_a_person_who_does_not_say_yes_is_waited_for(
    flowdsl: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    (folder / "release.py").write_text(RELEASE)
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    done = flowdsl("release.py", "--name", "one", "--quiet")
    assert done.code == 4
    assert "--fake release.verdict=VALUE --fake release.name=VALUE\n" in done.err


def test_a_gate_asks_also_while_deadlines_and_servers_go_on(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "gate.yaml").write_text(
        """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: gate}
spec:
  entrypoint: main
  activeDeadlineSeconds: 3600
  templates:
    - name: main
      steps:
        - [{name: server, template: server}]
        - [{name: first, template: first}]
        - [{name: gate, template: gate}]
    - {name: server, daemon: true, container: {image: busybox, command: [sleep, "600"]}}
    - {name: first, timeout: 1h, container: {image: busybox, command: [sh, -c, ":"]}}
    - {name: gate, suspend: {}}
"""
    )
    assert flowdsl("gate.yaml", "--name", "one").code == 4
    assert flowdsl("--resume", "one", "--approve").code == 0


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


CACHED = """\
from flowdsl import pipeline, step

@step(image="python:3.12-slim", cache=True)
def double(n: int) -> int:
    return 2 * n

@pipeline
def cached(n: int = 7) -> int:
    return double(n)
"""


def test_a_cache_that_is_damaged(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "cached.py").write_text(CACHED, encoding="utf-8")
    assert flowdsl("cached.py").code == 0
    [kept] = (folder / ".flowdsl/cache").glob("*.json")
    kept.write_text("{", encoding="utf-8")
    done = flowdsl("cached.py", "--name", "two")
    assert done.code == 2
    assert f"flowdsl: the cache {kept} cannot be read: " in done.err
    assert done.err.endswith("; delete it to start over\n")
    kept.unlink()
    assert flowdsl("cached.py", "--name", "two").code == 0


def test_a_cache_of_another_name_is_not_looked_at(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "cached.py").write_text(CACHED, encoding="utf-8")
    cache = folder / ".flowdsl/cache"
    cache.mkdir(parents=True)
    (cache / "a.json").write_text("{", encoding="utf-8")
    assert flowdsl("cached.py").code == 0


def test_what_waits_only_for_results_of_the_cache_runs(flowdsl: Callable[..., Result], folder: Path) -> None:
    """The first run finds nothing, and waits for attempts of its retried steps; the second has none of these."""
    (folder / "cached.py").write_text((ROOT / "tests/lowering/cached_retries.py").read_text("utf-8"), "utf-8")
    for name in ("one", "two"):
        done = flowdsl("cached.py", "--name", name)
        assert done.code == 0
        assert "return  0.5" in done.out
        assert ("judged: from the cache" in done.err) == (name == "two")


def test_runs_that_add_to_a_cache_at_once(tmp_path: Path) -> None:
    def add(run: int) -> None:
        caches = Caches(tmp_path / "cache", tmp_path / str(run))
        for one in range(20):
            caches.keep([("models", f"{run}-{one}", Entry("node", {"result": str(one)}, 0.0))])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    named = {"memoize": {"cache": {"configMap": {"name": "models"}}}}
    [entries] = Caches(tmp_path / "cache", tmp_path).stored([named]).values()
    assert entries.keys() == {f"{run}-{one}" for run in range(8) for one in range(20)}


def test_a_file_out_of_the_cache_is_there_also_without_the_run_that_made_it(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "cached.py").write_text(
        """\
from pathlib import Path
from flowdsl import pipeline, step

@step(image="python:3.12-slim", cache=True)
def make(n: int) -> Path:
    Path("made").write_text(str(n))
    return Path("made")

@step(image="python:3.12-slim")
def show(made: Path) -> int:
    return int(made.read_text())

@pipeline
def cached() -> int:
    return show(make(7))
"""
    )
    assert flowdsl("cached.py", "--name", "one").code == 0
    (folder / ".flowdsl/runs/one").rename(folder / "elsewhere")
    done = flowdsl("cached.py", "--name", "two")
    assert done.code == 0
    assert "make: started" not in done.err
    assert ["return", "7"] in rows(done.out)
    shutil.rmtree(folder / ".flowdsl/cache/artifacts")
    done = flowdsl("cached.py", "--name", "three")
    assert done.code == 0
    assert "make: started" in done.err, "what it was is gone"


def test_none_for_a_file_is_told_apart_in_the_key_of_a_cached_step(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "cached.py").write_text(
        """\
from pathlib import Path
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def note(text: str) -> Path | None:
    if not text:
        return None
    Path("note").write_text(text)
    return Path("note")

@step(image="python:3.12-slim", cache=True)
def read(note: Path | None) -> str:
    return "none" if note is None else note.read_text()

@pipeline
def cached(text: str = "") -> str:
    return read(note(text))
"""
    )
    for text, said, started in (("", "none", True), ("a", "a", True), ("", "none", False)):
        done = flowdsl("cached.py", "-p", f"text={text}")
        assert (done.code, ["return", said] in rows(done.out)) == (0, True), done.err
        assert ("read: started" in done.err) is started


def test_a_status_that_is_broken_is_made_again(flowdsl: Callable[..., Result], folder: Path) -> None:
    assert flowdsl("pipeline.py", "--name", "one", "-p", "n=1").code == 0
    path = folder / ".flowdsl/runs/one/workflow.json"
    whole = json.loads(path.read_text())
    path.write_text("{")
    assert flowdsl("--resume", "one").code == 0
    assert json.loads(path.read_text()) == whole


def test_the_labels_and_annotations_that_a_run_gives_itself_are_kept(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "labelled.yaml").write_text("""\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: labelled, labels: {own: "1"}}
spec:
  entrypoint: main
  arguments: {parameters: [{name: model, value: bert}]}
  workflowMetadata:
    labels: {of: "{{workflow.parameters.model}}"}
    annotations: {note: "{{workflow.name}}"}
    labelsFrom: {kind: {expression: "workflow.labels.of + '-base'"}}
  templates:
  - {name: main, container: {image: busybox, command: ["true"]}}
""")
    assert flowdsl("labelled.yaml").code == 0
    (path,) = folder.glob(".flowdsl/runs/*/workflow.json")
    found = json.loads(path.read_text())["metadata"]
    argo = "workflows.argoproj.io"
    assert found["labels"] == {
        "own": "1",
        "of": "bert",
        "kind": "bert-base",
        f"{argo}/completed": "true",
        f"{argo}/phase": "Succeeded",
    }
    assert found["annotations"] == {"note": path.parent.name, f"{argo}/pod-name-format": "v2"}


def test_a_run_that_is_not_there(flowdsl: Callable[..., Result]) -> None:
    assert "there is no run `two` in .flowdsl/runs\n" in flowdsl("--resume", "two").err
    flowdsl("gate.py", "--name", "twice")
    assert (
        "there is no run `twise` in .flowdsl/runs; did you mean `twice`?" in flowdsl("--resume", "twise").err
    )
    assert "leave out the file" in flowdsl("gate.py", "--resume", "twice").err
    assert "leave out -p, --name" in flowdsl("--resume", "twice", "-p", "a=1", "--name", "b").err
    assert (
        "leave out --python, --engine"
        in flowdsl("--resume", "twice", "--python", "p", "--engine", "podman").err
    )
    assert "leave out --cluster" in flowdsl("--resume", "twice", "--cluster", "lab").err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_an_interrupted_run_goes_on(
    flowdsl: Callable[..., Result], folder: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "flowdsl.cli", "run", "steps.yaml", "library.yaml", "--name", "one"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    before = signal.signal(number, signal.SIG_DFL)  # a child inherits an ignored signal, as under nohup
    with subprocess.Popen(
        [*command, "-p", "seconds=60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as child:
        signal.signal(number, before)
        journal = folder / ".flowdsl/runs/one/journal.jsonl"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if journal.exists() and journal.read_text(encoding="utf-8").count('"event":"ended"') == 3:
                break
            time.sleep(0.05)
        busy = flowdsl("--resume", "one")
        child.send_signal(number)
        out, err = child.communicate(timeout=30)
    assert (busy.code, busy.err) == (2, "flowdsl: the run one is going on in another process\n")
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
    command = [sys.executable, "-m", "flowdsl.cli", "run", "steps.yaml", "library.yaml", "--name", "one"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, "-p", "seconds=60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as child:
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


def test_what_a_loop_handed_on_is_shown_as_the_values_of_its_items() -> None:
    nested = json.dumps([{"flowdsl-index": "/0/1", "return": "b"}, {"flowdsl-index": "/0/0", "return": "a"}])
    rows = [{"flowdsl-index": "/10", "x": "1", "y": nested}, {"flowdsl-index": "/9", "return": "[2]"}]
    text = json.dumps(rows)
    assert value_of(text, "r", None) == ["[2]", {"x": "1", "y": ["a", "b"]}]
    assert value_of(text, "r", ["r.x"]) == [[2], {"x": "1", "y": ["a", "b"]}]
    for text in ("", "[1]", "flowdsl-index", '["flowdsl-index"]', '[{"flowdsl-index": 1}]', "[flowdsl-index"):
        assert value_of(text, "r", None) == text
    assert [value_of(one, "r", ()) for one in ("2", "NaN", '"2"', "2 a")] == [2, "NaN", "2", "2 a"]


FLAGS = """
from typing import NamedTuple

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def good(n: int) -> bool:
    return n > 1


@step(image="python:3.12-slim")
def word(n: int) -> str | None:
    return "word" * n if n else None


@step(image="python:3.12-slim")
def digits(n: int) -> str:
    return str(n)


class Told(NamedTuple):
    flags: list[bool]
    words: list[str | None]
    digits: list[str]
    digit: str
    ratio: float


@pipeline
def told(ratio: float = 0.5) -> Told:
    flags = fan_out(good, over={"n": [1, 2]})
    words = fan_out(word, over={"n": [0, 1]})
    return Told(flags, words, fan_out(digits, over={"n": [1, 2]}), digits.options(name="digit")(7), ratio)
"""


def test_flags_of_a_loop_are_shown_as_flags(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "flags.py").write_text(FLAGS, encoding="utf-8")
    done = flowdsl("flags.py")
    assert '  flags   [false, true]\n  words   [null, "word"]\n  digits  ["1", "2"]\n' in done.out


def test_programs_get_values_by_their_types(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "flags.py").write_text(FLAGS, encoding="utf-8")
    found = json.loads(flowdsl("flags.py", "--name", "one", "--json").out)
    lists = {"flags": [False, True], "words": [None, "word"], "digits": ["1", "2"]}
    assert found["outputs"] == {**lists, "digit": "7", "ratio": 0.5}
    assert run(["get", "one", "--rounds", "-o", "json"]) == 0
    loops = json.loads(capsys.readouterr().out)
    assert loops == found["loops"]
    assert run(["get", "one"]) == 0
    shown = capsys.readouterr().out
    assert '  words   [null, "word"]\n  digits  ["1", "2"]\n' in shown
    values = {one["path"]: [each["values"] for each in one["rounds"]] for one in loops}
    assert values["digits"] == [{"n": 1, "return": "1"}, {"n": 2, "return": "2"}]
    assert values["flags"] == [{"n": 1, "return": False}, {"n": 2, "return": True}]


DUE = """
from flowdsl import pipeline, run, step


@step(image="python:3.12-slim")
def day(due: str) -> str:
    return due[:10]


@pipeline(schedule="0 3 * * *")
def daily() -> str:
    return day(run.scheduled_time)
"""


def test_a_run_knows_when_it_was_due(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "due.py").write_text(DUE, encoding="utf-8")
    today = datetime.now(UTC).date().isoformat()
    assert json.loads(flowdsl("due.py", "--json").out)["outputs"]["return"] >= today
    assert run(["compile", str(folder / "due.py"), "--as", "workflow"]) == 0
    annotations = "  annotations:\n    workflows.argoproj.io/scheduled-time: '2020-02-29T03:00:00Z'\n"
    text = capsys.readouterr().out.replace("  annotations:\n", annotations, 1)
    (folder / "late.yaml").write_text(text, encoding="utf-8")
    assert json.loads(flowdsl("late.yaml", "--json").out)["outputs"]["return"] == "2020-02-29"


LETTERS = r"""
from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def count(row: dict[str, str]) -> dict[str, int]:
    return {"größe": len(row), "\u009bm": 2}


@pipeline
def letters(rows: list[dict[str, str]] = [{"b": "ü", "a": "1"}]) -> None:
    fan_out(count, over={"row": rows})
"""


def test_values_in_the_rows_of_loops_are_shown_as_they_are_read(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "letters.py").write_text(LETTERS, encoding="utf-8")
    assert '{"größe": 2, "\\x9bm": 2}' in flowdsl("letters.py").out


def test_runs_of_this_folder_are_selected_where_there_is_no_cluster(
    flowdsl: Callable[..., Result], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "none")
    assert flowdsl("pipeline.py", "--name", "search-one", "-p", "mode=SLOW", "-q").code == 1
    assert flowdsl("gate.py", "--name", "asked-two").code == 4
    capsys.readouterr()
    assert run(["get", "search"]) == 2
    assert "no run `search` in .flowdsl/runs (the last ones are search-one), and" in capsys.readouterr().err
    assert run(["delete", "--status", "Failed", "--dry-run"]) == 0
    assert capsys.readouterr().out == "would delete .flowdsl/runs/search-one (Failed)\n"
    assert run(["delete", "--all"]) == 2, "nobody is there to be asked about several"
    capsys.readouterr()
    assert run(["delete", "--all", "--context", "lab"]) == 2
    assert "there is no cluster to talk to" in capsys.readouterr().err
    assert run(["stop", "--all"]) == 2, "those of a cluster are meant"
    assert "there is no cluster to talk to" in capsys.readouterr().err
    assert run(["delete", "-l", "flowdsl.dev/pipeline in (asked)", "--yes"]) == 0
    assert capsys.readouterr().out == "asked-two: deleted .flowdsl/runs/asked-two\n"
    assert run(["delete", "-l", "flowdsl.dev/pipeline=asked"]) == 0
    assert capsys.readouterr().out == "no run is selected\n"


LOOP_IN_LOOP = """
from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def scale(word: str, times: int) -> tuple[str, int]:
    return word * times, times


@pipeline
def scaled(word: str) -> list[tuple[str, int]]:
    return fan_out(scale, over={"times": [1, 2]}, word=word)


@pipeline
def words() -> list[list[tuple[str, int]]]:
    return fan_out(scaled, over={"word": ["a", "b"]})
"""


def test_what_a_loop_in_a_loop_gave_is_a_list_in_its_row(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "words.py").write_text(LOOP_IN_LOOP, encoding="utf-8")
    out = flowdsl("words.py", "-q").out
    assert '1  b     [{"item-0": "b", "item-1": 1}, {"item...' in out
    assert "flowdsl-index" not in out


SECRET = """
import os

from flowdsl import Secret, approve, pipeline, step


@step(image="python:3.12-slim", secrets={"TOKEN": Secret("hub", "token")})
def log_in(name: str) -> str:
    return name + str(len(os.environ["TOKEN"]))


@approve()
def gate() -> str:
    raise NotImplementedError


@pipeline
def logging_in() -> str:
    return log_in(gate())
"""


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


@pytest.mark.parametrize("line", ['{"token": "abc"}', "abc", "token: abc=", "=abc", "export token=abc"])
def test_a_line_that_is_no_pair_is_told_and_not_shown(
    line: str, flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "secret.py").write_text(SECRET, encoding="utf-8")
    given = f"hub={(folder / 'hub.env').resolve()}"
    (folder / "hub.env").write_text(f"# of the hub\n{line}\n", encoding="utf-8")
    said = "its line 2 is not KEY=VALUE; write such lines, or name a folder with a file for each key"
    assert flowdsl("secret.py", "--secret", given) == (2, "", f"flowdsl: --secret {given}: {said}\n")


FAILING_ROUND = """
from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def tag(n: int) -> str:
    return "a" * (1 // n - 1)


@pipeline
def tags() -> None:
    fan_out(tag, over={"n": [0, 1]})
"""


def test_what_a_failed_round_did_not_give_is_null_and_an_empty_text_is_not(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "tags.py").write_text(FAILING_ROUND, encoding="utf-8")
    (loop,) = json.loads(flowdsl("tags.py", "--json").out)["loops"]
    assert [one["values"] for one in loop["rounds"]] == [{"n": 0, "return": None}, {"n": 1, "return": ""}]


STOPPED_EARLY = """
from typing import NamedTuple

from flowdsl import choice, minimize, pipeline, step, sweep


class Fit(NamedTuple):
    name: str
    kind: str
    epochs: int


@step(image="python:3.12-slim")
def fit(name: str, kind: str, epochs: int) -> Fit:
    return Fit(name, kind.upper(), min(epochs, 9 - len(kind)))


@pipeline
def search() -> int:
    over = {"name": choice("1", "2"), "kind": choice("1e3"), "epochs": choice(8, 20)}
    return sweep(fit, over=over, objective=minimize("epochs")).best.epochs
"""


def test_outputs_with_the_names_of_inputs_have_columns_of_their_own(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "search.py").write_text(STOPPED_EARLY, encoding="utf-8")
    done = flowdsl("search.py", "--name", "one", "-q")
    assert ["#", "name", "epochs", "(input)", "kind", "epochs"] in rows(done.out)
    assert ["0", "1", "8", "1E3", "6", "best"] in rows(done.out)
    (loop,) = json.loads(flowdsl("search.py", "--json").out)["loops"]
    assert loop["rounds"][1]["values"] == {"name": "1", "epochs (input)": 20, "epochs": 6, "kind": "1E3"}


RETURNED = """
from typing import NamedTuple

from flowdsl import fan_out, pipeline, step


class Tile(NamedTuple):
    zone: int
    row: str


class Scene(NamedTuple):
    tile: Tile
    clouds: float


@step(image="python:3.12-slim")
def tiles() -> list[Tile]:
    return [Tile(32, "U"), Tile(33, "U")]


@step(image="python:3.12-slim")
def load(tile: Tile) -> Scene:
    return Scene(tile, tile.zone / 100)


@pipeline
def scenes() -> None:
    fan_out(load, over={"tile": tiles()})
"""


def test_an_output_that_is_the_input_shares_its_column(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "scenes.py").write_text(RETURNED, encoding="utf-8")
    assert ["#", "tile", "clouds"] in rows(flowdsl("scenes.py", "-q").out)


CLAIMED = """
from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("corpora")


@step(image="python:3.12-slim")
def size(raw: Path) -> int:
    return len(raw.read_text())


@pipeline
def sizes(raw: Path = DATA / "raw.txt") -> int:
    return size(raw)
"""


@pytest.mark.parametrize("name", ["corpora", "corpora-nfs"])
def test_a_claim_is_named_as_itself_or_as_its_volume(
    name: str, flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "sizes.py").write_text(CLAIMED, encoding="utf-8")
    profile = 'default-cluster = "lab"\n[clusters.lab.volumes]\ncorpora = { claim = "corpora-nfs" }\n'
    (folder / "flowdsl.toml").write_text(profile, encoding="utf-8")
    (folder / "here").mkdir()
    (folder / "here" / "raw.txt").write_text("four", encoding="utf-8")
    assert json.loads(flowdsl("sizes.py", "--mount", f"{name}=here", "--json").out)["outputs"] == {
        "return": 4
    }
    given = ("--mount", f"{name}=here", "-p", "raw=here/raw.txt")
    assert json.loads(flowdsl("sizes.py", *given, "--json").out)["outputs"] == {"return": 4}


STORED = """
from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("data")


@step(image="python:3.12-slim")
def write(text: str) -> tuple[Path, str]:
    file = Path("file.txt")
    file.write_text(text)
    return file, "a/b"


@pipeline(store=DATA / "runs")
def stored() -> tuple[Path, str]:
    return write("stored")
"""


def test_files_on_a_volume_are_shown_where_they_are(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "stored.py").write_text(STORED, encoding="utf-8")
    done = flowdsl("stored.py", "--name", "one", "--mount", f"data={folder / 'data'}")
    assert "  item-0  data/runs/one/write/item-0\n  item-1  a/b\n" in done.out
    found = json.loads(flowdsl("--resume", "one", "--json").out)
    path = Path(found["files"].pop("item-0"))
    assert (path.read_text(encoding="utf-8"), found["files"]) == ("stored", {})


LEFT = """
from pathlib import Path

from flowdsl import NewVolume, Torch, Volume, pipeline, step

DATA = Volume("data", mode="ReadWriteMany")
WORK = NewVolume("work", size="1Gi")


@step(image="python:3.12-slim", mounts={"/mnt/work": WORK})
def count() -> int:
    Path("/mnt/work/text").write_text("left")
    return 2


@step(image="python:3.12-slim", distributed=Torch(workers=1))
def train(size: int) -> int:
    return size + 1


@step(image="python:3.12-slim", mounts={"/mnt/work": WORK})
def show(size: int) -> str:
    return Path("/mnt/work/text").read_text() * size


@pipeline(store=DATA / "runs")
def left() -> str:
    return show(train(count()))
"""


def test_what_steps_left_on_volumes_is_there_for_a_part(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "left.py").write_text(LEFT, encoding="utf-8")
    mount = ("--mount", f"data={folder / 'data'}")
    assert flowdsl("left.py", "-q", "--name", "one", *mount).code == 0
    for name, before, step in (
        ("two", "one", "show"),
        ("three", "two", "results"),
        ("four", "three", "train"),
    ):
        done = flowdsl("left.py", "-q", "--from", step, "--of", before, "--name", name)
        assert ["return", "leftleftleft"] in rows(done.out), (name, done.out)
    assert ["return", "leftleftleft"] in rows(flowdsl("left.py", "-q", "--only", "show", "--of", "two").out)
    assert ["return", "3"] in rows(flowdsl("left.py", "-q", "--only", "results", "--of", "two").out)
    assert flowdsl("--resume", "three", "-q").code == 0


UNEVEN = """
from flowdsl import fan_out, numbers, pipeline, step


@step(image="python:3.12-slim")
def half(n: int) -> int:
    return n // 2


@step(image="python:3.12-slim")
def add(n: int, other: int) -> int:
    return n + other


@pipeline
def uneven(n: int = 6) -> None:
    fan_out(add, over={"n": numbers(half(n)), "other": [1, 2]})
"""


def test_lists_of_unlike_length_are_told_in_a_sentence(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "uneven.py").write_text(UNEVEN, encoding="utf-8")
    sentence = "the lists that are walked together differ in length\n"
    assert f" 0.0s  {sentence}" in re.sub(r"\d\.\ds", "0.0s", flowdsl("uneven.py", "--name", "uneven").out)
    assert run(["get", "uneven"]) == 0
    out = capsys.readouterr().out
    assert f"Message:   add.add: {sentence}" in out
    assert out.endswith(sentence)


UNDERSCORES = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count_words(text: str) -> int:
    return len(text.split())


@step(image="python:3.12-slim")
def show_all(count: int) -> int:
    return count + 1


@pipeline
def words(text: str = "a few") -> int:
    return show_all(count_words(text))
"""


def test_steps_have_the_names_of_their_functions_too(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "words.py").write_text(UNDERSCORES, encoding="utf-8")
    assert "return  6\n" in flowdsl("words.py", "--fake", "count_words=5", "--name", "first").out
    assert "return  6\n" in flowdsl("words.py", "--from", "show_all", "--of", "first").out
    assert "succeeded" in flowdsl("words.py", "--only", "show_all", "--of", "first").out


def test_a_scheduled_workflow_has_the_time_for_which_it_runs(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "cron.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nmetadata: {name: nightly}\nspec:\n"
        '  schedules: ["0 2 * * *"]\n  workflowSpec:\n    entrypoint: main\n    templates:\n    - name: main\n'
        '      container: {image: "a:1", command: [echo, "at {{workflow.scheduledTime}}"]}\n',
        encoding="utf-8",
    )
    assert flowdsl("cron.yaml", "-q", "--name", "one").code == 0
    (log,) = (folder / ".flowdsl/runs/one/logs").rglob("main.log")
    assert re.fullmatch(r"at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n", log.read_text(encoding="utf-8"))
