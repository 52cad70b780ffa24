"""A part of a run, `--only` and `--from`: what it takes from an earlier run, and how its step is named."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from tests.commands import Result
from tests.run.files import NAMED, SERVED, STEPS, rows

if TYPE_CHECKING:
    from collections.abc import Callable


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


def test_a_server_serves_again_what_runs_again(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "served.yaml").write_text(SERVED)
    done = flowdsl("served.yaml", "--name", "one")
    assert ["server", "Succeeded"] in rows(done.out)
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


def test_a_step_by_the_name_of_its_function(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    for asked, tasks in (("load_rows", "rows"), ("double", "first, again")):
        assert run(["logs", "one", asked]) == 2
        said = f"flowdsl: one has no step `{asked}`: it is the function of {tasks}\n"
        assert capsys.readouterr().err == said


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
    together = flowdsl("pipeline.py", "--from", "publish, runs.attempt(1)")
    assert together.code == 2
    assert together.err.endswith("; several are --from publish --from 'runs.attempt(1)'\n")


def test_an_earlier_run_of_another_workflow(flowdsl: Callable[..., Result], folder: Path) -> None:
    for name in ("first", "second"):
        source = f"""
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def {name}_load() -> int:
    return 3

@step(image="python:3.12-slim")
def show(rows: int) -> None:
    print(rows)

@pipeline
def {name}() -> None:
    rows_of_{name} = {name}_load()
    show(rows_of_{name})
"""
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    assert flowdsl("first.py", "--name", "one").code == 0
    done = flowdsl("second.py", "--name", "two", "--from", "show", "--of", "one")
    assert done.code == 0
    assert "note: nothing is taken from one: it has none of the other steps of this workflow" in done.err
    assert "rows-of-second: started\n" in done.err
    again = flowdsl("second.py", "--from", "show", "--of", "two")
    assert (again.code, "nothing is taken" in again.err) == (0, False)
    only = flowdsl("second.py", "--only", "rows_of_first", "--of", "one")
    said = "in the run one it was `first-load`, which this workflow does not have"
    assert (only.code, only.err) == (2, f"flowdsl: --only rows_of_first: {said}\n")


OTHERS = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: others-}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - {name: one, templateRef: {name: shelf, template: hello}}
    - - {name: two, inline: {container: {image: "busybox:1", command: [echo, two]}}}
---
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: shelf}
spec:
  templates:
  - {name: hello, container: {image: "busybox:1", command: [echo, one]}}
"""


@pytest.mark.parametrize("step", ["one", "two"])
def test_a_step_whose_template_has_no_name_here(
    step: str, flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "others.yaml").write_text(OTHERS, encoding="utf-8")
    assert flowdsl("others.yaml", "--name", "first").code == 0
    only = flowdsl("others.yaml", "--only", step, "--of", "first")
    why = "its template has no name in the workflow, so it does not run alone"
    said = f"flowdsl: --only {step}: {why}; --from {step} runs it and what follows\n"
    assert (only.code, only.err) == (2, said)
    assert flowdsl("others.yaml", "--from", step, "--of", "first").code == 0


HANDED = """\
from pathlib import Path
from flowdsl import fan_out, pipeline, step

@step(image="python:3.12-slim")
def make(words: str) -> Path:
    Path("made").mkdir()
    for word in words.split():
        Path("made", word).write_text(word)
    return Path("made")

@step(image="python:3.12-slim")
def count(made: Path, least: int) -> int:
    return len([*made.iterdir()]) if made.exists() else 0

@pipeline
def handed(words: str = "a b") -> list[int]:
    return fan_out(count, over={"least": [0]}, made=make(words))
"""


def test_files_of_the_earlier_run_that_are_gone(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "handed.py").write_text(HANDED, encoding="utf-8")
    assert flowdsl("handed.py", "-q", "--name", "one").code == 0
    assert flowdsl("handed.py", "-q", "--name", "none", "-p", "words=").code == 0
    for name, found in (("one", "2"), ("none", "0")):
        for again in (["--from", "count"], ["--only", "count(0)"]):
            done = flowdsl("handed.py", "-q", *again, "--of", name)
            assert done.out.partition("return ")[2].split()[0].strip("[]") == found
    (made,) = (folder / ".flowdsl/runs/one/artifacts").rglob("return")
    shutil.move(made, folder / "made")
    for again in (["--from", "count"], ["--only", "count(0)"]):
        done = flowdsl("handed.py", *again, "--of", "one")
        gone = f"are gone: there is no {made.relative_to(folder)}; run all of it again\n"
        assert (done.code, done.err.endswith(gone)) == (2, True), "which is no empty folder"
    shutil.rmtree(folder / ".flowdsl/runs/one/artifacts")
    for again in (["--from", "count"], ["--only", "count(0)"]):
        done = flowdsl("handed.py", *again, "--of", "one")
        gone = (
            "the files of the run one are gone: there is no .flowdsl/runs/one/artifacts; run all of it again"
        )
        assert (done.code, done.err) == (2, f"flowdsl: {' '.join(again)}: {gone}\n")


PACKED = """\
from pathlib import Path
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def make(words: str) -> Path:
    made = Path("made.txt")
    made.write_text(words)
    return made

@step(image="python:3.12-slim")
def count(made: Path) -> int:
    return len(made.read_text())

@step(image="python:3.12-slim")
def double(number: int) -> int:
    return 2 * number

@pipeline
def packed(words: str = "a b") -> int:
    return double(count(make(words)))
"""


def test_one_file_of_the_earlier_run_that_is_gone(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "packed.py").write_text(PACKED, encoding="utf-8")
    assert flowdsl("packed.py", "-q", "--name", "one").code == 0
    assert flowdsl("packed.py", "-q", "--from", "count", "--of", "one", "--name", "two").code == 0
    file = next((folder / ".flowdsl/runs/two/artifacts/two").rglob("*.tgz"))
    file.unlink()
    done = flowdsl("packed.py", "--from", "double", "--of", "two")
    assert done.code == 2
    assert f"are gone: there is no {file.relative_to(folder)}; run all of it again\n" in done.err
    assert flowdsl("packed.py", "-q", "--from", "make", "--of", "two").code == 0


TRIED = """\
from flowdsl import fan_out, pipeline, step

@step(image="python:3.12-slim")
def train(rate: int) -> int:
    return 10 * rate

@step(image="python:3.12-slim")
def total(scores: list[int], note: int) -> int:
    return sum(scores) + note

@step(image="python:3.12-slim")
def note() -> int:
    return 1

@pipeline
def tried() -> int:
    return total(fan_out(train, over={"rate": [0, 1, 2, 3]}), note())
"""


def test_several_rounds_again(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "tried.py").write_text(TRIED, encoding="utf-8")
    assert flowdsl("tried.py", "-q", "--name", "one").code == 0
    again = ["--from", "train(1)", "--from", "train(3)", "--of", "one"]
    done = flowdsl("tried.py", *again, "--name", "two")
    assert (done.code, ["return", "61"] in rows(done.out)) == (0, True)
    assert set(re.findall(r"^(\S+): from one$", done.err, re.MULTILINE)) == {"note", "train(0)", "train(2)"}
    assert set(re.findall(r"^(\S+): started$", done.err, re.MULTILINE)) == {"train(1)", "train(3)", "total"}
    assert flowdsl("--resume", "two").code == 0
    wrong = flowdsl("tried.py", "--from", "train(1)", "--from", "tran")
    assert (wrong.code, "has no step `tran`; did you mean `train`?" in wrong.err) == (2, True)


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
@pytest.mark.parametrize("default", [", value: you", ""])
def test_the_step_of_a_run_that_has_no_other(
    default: str, word: str, flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "single.yaml").write_text(SINGLE.replace(", value: you", default), encoding="utf-8")
    assert flowdsl("single.yaml", "-q", "-p", "who=her", "--name", "one").code == 0
    done = flowdsl("single.yaml", word, "greet", "--of", "one", "--name", "two", "-q")
    assert (done.code, done.err) == (0, ""), "a parameter has the value of the earlier run"
    found = json.loads((folder / ".flowdsl/runs/two/workflow.json").read_text(encoding="utf-8"))
    assert found["status"]["nodes"]["two"]["inputs"]["parameters"] == [{"name": "who", "value": "her"}]


@pytest.mark.parametrize("word", ["--only", "--from"])
def test_a_parameter_that_no_run_has_had(word: str, flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "single.yaml").write_text(SINGLE, encoding="utf-8")
    assert flowdsl("single.yaml", "-q", "--name", "one").code == 0
    more = SINGLE.replace("value: you", "value: you}, {name: more").replace(
        "{name: who}]", "{name: who}, {name: more}]"
    )
    (folder / "single.yaml").write_text(more, encoding="utf-8")
    done = flowdsl("single.yaml", word, "greet", "--of", "one", "-q")
    assert (done.code, done.err) == (
        2,
        "flowdsl: the parameter `more` has no value: give it with -p more=VALUE\n",
    )
    assert flowdsl("single.yaml", word, "greet", "--of", "one", "-p", "more=1", "-q").code == 0


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
    wrong = flowdsl("files.py", "--only", "corpus", "--of", "one", "--artifact", "file=raw.txt")
    assert wrong.err.endswith("the workflow has no artifact `file`; there is first\n")
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
