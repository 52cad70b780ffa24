"""What a run shows while it goes on and at its end: lines, a tree, JSON, the logs of what failed."""

from __future__ import annotations

import json
import os
import pty
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands import Result, finished, process
from tests.run.files import PIPELINE, rows

if TYPE_CHECKING:
    from collections.abc import Callable


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
    gate = ("run", "gate.py", "-q", "--name", "one", "--approve", "--fake", "gate=you")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = finished(*gate, stdout=full)
    assert done.code == 4
    assert done.err == (
        "flowdsl: standard output cannot be written: No space left on device: the run has ended; "
        "when that is mended, see its end with\n  flowdsl run --resume one\n"
    )
    again = flowdsl("--resume", "one", "-q")
    assert (again.code, ["return", "hello", "you"] in rows(again.out)) == (0, True)


def test_a_line_for_each_change(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "--name", "one")
    lines = [re.sub(r"after \d+\.\ds", "after T", line) for line in done.err.splitlines()]
    lines = [line for line in lines if not line.startswith("note: this system gives")]  # not every one does
    assert lines[0].startswith("note: images are not used")
    assert lines[1:3] == ["base: started", "base: succeeded after T"]
    assert "runs.attempt(0): started" in lines
    assert "runs.attempt(1): failed after T: main: Error (exit code 1)" in lines
    assert "never: skipped: when 'false' evaluated false" in lines
    assert "\x1b" not in done.err + done.out


def test_quiet_shows_the_end_only(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("pipeline.py", "-q")
    assert done.err == ""
    assert done.out.startswith("STEP ")


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


LOOP = """
from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def greet(name: str) -> None:
    print("hello", name)


@pipeline
def greetings() -> None:
    fan_out(greet, over={"name": ["ada", "bob"]}, parallel=1)
"""


def test_a_round_is_called_as_in_its_log(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "loop.py").write_text(LOOP)
    done = flowdsl("loop.py", "--name", "one")
    assert (done.code, "\ngreet(1): started\n" in done.err) == (0, True)
    assert finished("logs", "one").out == "greet(0) | hello ada\ngreet(1) | hello bob\n"


LOSING = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: losing-}
spec:
  entrypoint: main
  templates:
  - name: main
    dag: {tasks: [{name: use, template: use}]}
  - name: use
    inputs: {artifacts: [{name: made, path: /made, http: {url: "http://127.0.0.1:1/made"}}]}
    container: {image: "busybox:1.36", command: [cat, /made]}
"""


def test_a_run_with_an_error_says_so(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "losing.yaml").write_text(LOSING)
    done = flowdsl("losing.yaml", "--name", "two")
    assert done.code == 1
    assert re.search(r"^use: ended with an error after .*: init: Error", done.err, re.MULTILINE)
    assert re.search(r"^two ended with an error after \d+\.\ds$", done.out, re.MULTILINE)


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
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "90", "LINES": "20"}
    env.pop("NO_COLOR")
    with process("run", "pipeline.py", "-p", "mode=SLOW", stderr=slave, stdin=slave, env=env) as child:
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            shown += piece
        out = child.stdout.read() if child.stdout is not None else ""
        assert child.wait() == 1
    os.close(master)
    text = shown.decode()
    assert "●" in text
    assert "base" in text
    assert text.rstrip().endswith("\x1b[2K") or "\x1b[?25h" in text, "the cursor is shown again"
    assert "\x1b" not in out


def test_a_tree_has_what_is_wanted_most() -> None:
    from flowdsl.cli.display.live import Row, fitted

    ranks = [3, 3, 1, 3, 0, 2, 1]
    tree = [Row(0, "·", "", f"step{at}", "", None, rank) for at, rank in enumerate(ranks)]
    assert [row.name for row in fitted(tree, 4)] == ["step2", "step4", "step5", "step6"]
    assert fitted(tree, 7) == tree


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


def test_a_module_that_only_the_image_has(folder: Path, flowdsl: Callable[..., Result]) -> None:
    (folder / "missing.py").write_text(
        "from flowdsl import fan_out, pipeline, step\n\n\n"
        '@step(image="registry.example.com/train:1")\n'
        "def train(rate: float) -> float:\n"
        "    import flowdsl_test_missing.part\n\n"
        "    return flowdsl_test_missing.part.loss(rate)\n\n\n"
        "@pipeline\ndef tune() -> None:\n"
        '    fan_out(train, over={"rate": [0.1, 0.2]})\n'
    )
    done = flowdsl("missing.py", "--quiet", "--name", "one")
    assert done.code == 1
    said = (
        "the Python of this run has no module `flowdsl_test_missing`: install it there, name another Python with "
        "--python, run images with --engine docker, or leave the step out: --fake train=VALUE\n"
    )
    assert done.out.count("the Python of this run has no module") == 1
    assert said in done.out
    assert flowdsl("missing.py", "--quiet", "--fake", "train=0.5").code == 0
