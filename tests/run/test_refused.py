"""What is refused before a run begins, with nothing written."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from tests.commands import Result
from tests.run.files import LIBRARY, PIPELINE, STEPS

if TYPE_CHECKING:
    from collections.abc import Callable


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
        (["-p", "n", "3"], "-p n: write -p NAME=VALUE"),
        (["-p", "n=1", "-p", "n=2"], "-p n is given twice"),
        (["--fake", "prepair=1"], "--fake prepair: there is no step `prepair`; did you mean `prepare`?"),
        (["--fake", "prepair=abc"], "--fake prepair: there is no step `prepair`; did you mean `prepare`?"),
        (
            ["--fake", "x=1"],
            "no step `x`; there are search, base, runs, runs-best, never, publish, attempt\n",
        ),
        (["--fake", "attempt=1"], "it has several outputs: --fake attempt.loss=... --fake attempt.model=..."),
        (["--fake", "attempt.los=1"], "`attempt` has no output `los`; did you mean `loss`?"),
        (["--fake", "attempt.model=pipeline.py"], "the output `loss` needs a value too"),
        (["--fake", "prepare.x=1"], "`prepare` has no output `x`; there is return\n"),
        (["--fake", "runs=1"], "`runs` is a graph of steps; name one of these: attempt"),
        (["--mount", "data=."], "--mount data: the workflow has no claim `data`; it has none"),
        (["--mount", "data=no/where"], "there is no no"),
        (["--mount", "data="], "--mount data=: the path is empty; the current folder is --mount data=."),
        (["--artifact", "raw=nowhere"], "--artifact raw=nowhere: there is no nowhere"),
        (
            ["--config-map", "limits=gpu=2"],
            "there is no gpu=2: name a folder with a file for each key, or a file of",
        ),
        (["--only", "publish"], "there is no earlier run of search in .flowdsl/runs: run all of it first"),
        (["--only", "a", "--from", "b"], "--only runs one step, --from it and what follows"),
        (["--of", "one"], "--of names the earlier run for --only or --from"),
        (["--name", "No_"], "--name: `No_` cannot be the name of a run: it has small letters"),
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
    (folder / "same.yaml").write_text("---\n".join([workflows[0]] * 2), encoding="utf-8")
    assert "several to run: day, day; give each a name of its own" in flowdsl("same.yaml:day").err
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


def test_a_name_is_used_once(flowdsl: Callable[..., Result]) -> None:
    assert flowdsl("gate.py", "--name", "one").code == 4
    done = flowdsl("gate.py", "--name", "one")
    assert done.code == 2
    said = "there is a run `one` already: choose another name, or"
    assert f"{said} continue it: --resume one\n" in done.err
    assert flowdsl("--resume", "one", "--fake", "gate=true", "--approve").code == 0
    done = flowdsl("gate.py", "--name", "one")
    assert (done.code, f"{said} delete it: flowdsl delete one\n" in done.err) == (2, True)


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


NUMBERS = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def seed(number: int) -> int:
    return number


@pipeline
def numbers(offset: int = 1) -> int:
    return seed(offset * 4)
"""


def test_a_value_whose_sum_argo_would_cut_off_is_refused(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "numbers.py").write_text(NUMBERS, encoding="utf-8")
    done = flowdsl("numbers.py", "-p", f"offset={2**61}")
    assert done.code == 2
    assert (
        f"-p offset={2**61}: the result with `{2**61}` is {2**63}, which does not fit into 64 bits"
        in done.err
    )
    assert f"Argo would make it {-(2**63)}" in done.err
    assert not (folder / ".flowdsl/runs").exists()
    assert flowdsl("numbers.py", "-p", f"offset={-(2**61)}").code == 0
    (folder / "numbers.py").write_text(NUMBERS.replace("offset: int = 1", f"offset: int = {2**61}"))
    assert "FD384" in flowdsl("numbers.py").err


def test_the_same_holds_for_the_template_that_was_compiled(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "numbers.py").write_text(NUMBERS, encoding="utf-8")
    assert run(["compile", "numbers.py", "--as", "template", "-o", "numbers.yaml"]) == 0
    done = flowdsl("numbers.yaml", "-p", f"offset={2**61}")
    assert (done.code, f"Argo would make it {-(2**63)}" in done.err) == (2, True)


def test_a_parameter_that_argo_cannot_hand_on(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "said.py").write_text(SAID, encoding="utf-8")
    for value in ("a\x1bb", "{{workflow.name}}"):
        done = flowdsl("said.py", "-p", f"t={value}")
        assert (done.code, "-p t=" in done.err, "Argo" in done.err) == (2, True, True)


def test_limits_of_what_is_fetched(
    flowdsl: Callable[..., Result], capsys: pytest.CaptureFixture[str]
) -> None:
    flowdsl("gate.py", "--name", "one")
    for option, least in (("--jobs", "at least 1"), ("--max-size", "more than nothing")):
        assert run(["fetch", "one", "-o", "here", option, "0"]) == 2
        assert f"{option} 0: must be {least}" in capsys.readouterr().err


def test_a_run_that_is_not_there(flowdsl: Callable[..., Result]) -> None:
    assert "there is no run `two` in .flowdsl/runs\n" in flowdsl("--resume", "two").err
    flowdsl("gate.py", "--name", "twice")
    assert (
        "there is no run `twise` in .flowdsl/runs; did you mean `twice`?" in flowdsl("--resume", "twise").err
    )
    assert "did you mean `@latest`?" in flowdsl("--resume", "@last").err
    assert "leave out the file" in flowdsl("gate.py", "--resume", "twice").err
    assert "leave out -p, --name" in flowdsl("--resume", "twice", "-p", "a=1", "--name", "b").err
    assert (
        "leave out --python, --engine"
        in flowdsl("--resume", "twice", "--python", "p", "--engine", "podman").err
    )
    assert "leave out --cluster" in flowdsl("--resume", "twice", "--cluster", "lab").err


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
