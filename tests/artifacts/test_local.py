"""Runs of this machine are fetched as those of a cluster are: stored files, and files on volumes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowdsl.cli.app import run
from tests.artifacts.runs import there, told

PIPELINE = """
from pathlib import Path

from flowdsl import Volume, fan_out, pipeline, step

DATA = Volume("datasets", mode="ReadWriteMany")


@step(image="python:3.12-slim")
def make() -> Path:
    out = Path("out")
    out.mkdir()
    (out / "a").write_text("a")
    return out


@step(image="python:3.12-slim")
def count(made: Path, number: int) -> Path:
    out = Path("count.txt")
    out.write_text(f"{number} {sorted(one.name for one in made.iterdir())}")
    return out


@pipelineOPTIONS
def work() -> None:
    made = make()
    counted = fan_out(count, over={"number": [1, 2]}, made=made)
"""

WANTED = {"counted/0/return": b"1 ['a']", "counted/1/return": b"2 ['a']", "made/return/a": b"a"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("options", ["", '(store=DATA / "runs")'])
@pytest.mark.parametrize("mounted", [False, True])
def test_a_run_of_this_machine(here: Path, options: str, mounted: bool) -> None:
    (here / "pipeline.py").write_text(PIPELINE.replace("OPTIONS", options))
    (here / "data").mkdir()
    mount = ["--mount", "datasets=data"] if mounted and options else []
    assert run(["run", "pipeline.py", "--name", "first", "--quiet", *mount]) == 0
    assert run(["fetch", "first"]) == 0
    assert there(here / "first") == WANTED
    assert run(["fetch", "@latest", "-o", "second", "counted(1)"]) == 0
    assert list(there(here / "second")) == ["counted/1/return"]
    assert told(here / "second")["run"]["name"] == "first"
    stored = here / ".flowdsl/runs/first/artifacts/first"
    if options:
        stored = here / ("data" if mount else ".flowdsl/volumes/datasets") / "runs/first"
    (stored / "made/return/a").write_text("changed")
    assert run(["fetch", "first"]) == 0
    assert there(here / "first") == {**WANTED, "made/return/a": b"changed"}


@pytest.mark.parametrize(
    "store",
    [
        "s3: {key: made/out}",
        "hdfs: {addresses: [hdfs:9000], hdfsUser: me, path: /made/out}",
        "artifactory: {url: https://repository/made/out}",
    ],
)
def test_a_file_of_each_kind_of_store(here: Path, store: str) -> None:
    (here / "work.yaml").write_text(
        f"""
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {{name: work}}
spec:
  entrypoint: make
  templates:
  - name: make
    script: {{image: "python:3.12-slim", command: [sh], source: echo made > /tmp/out}}
    outputs: {{artifacts: [{{name: out, path: /tmp/out, archive: {{none: {{}}}}, {store}}}]}}
"""
    )
    assert run(["run", "work.yaml", "--name", "first", "--quiet"]) == 0
    assert run(["fetch", "first"]) == 0
    assert list(there(here / "first").values()) == [b"made\n"]


def test_a_run_that_is_not_there(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / ".flowdsl/runs").mkdir(parents=True)
    assert run(["fetch", "nowhere"]) == 2
    assert "there is no run `nowhere` in .flowdsl/runs" in capsys.readouterr().err


TRIALS = """
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, maximize, pipeline, step, sweep

DATA = Volume("datasets", mode="ReadWriteMany")


class Trained(NamedTuple):
    model: Path
    accuracy: float


@step(image="python:3.12-slim")
def train(rate: float) -> Trained:
    if rate > 1:
        raise ValueError(rate)
    model = Path("model")
    model.write_text("m")
    return Trained(model, rate)


@pipelineOPTIONS
def work() -> Path:
    return sweep(train, over={"rate": [0.1, 2.0]}, objective=maximize("accuracy")).best.model
"""


@pytest.mark.parametrize("options", ["", '(store=DATA / "runs")'])
def test_a_trial_that_failed_has_no_file(
    here: Path, options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "pipeline.py").write_text(TRIALS.replace("OPTIONS", options))
    assert run(["run", "pipeline.py", "--name", "first", "--quiet"]) == 0
    assert run(["fetch", "first"]) == 0
    assert there(here / "first") == {"train/0/model": b"m"}
    capsys.readouterr()
    assert run(["fetch", "first", "--list", "--json"]) == 0
    rows = {(one["step"], one["output"]): one["kind"] for one in json.loads(capsys.readouterr().out)}
    assert rows["train(0)", "accuracy"] == "value"
    assert rows["train(0)", "model"] == "file"
    assert rows.get(("train(1)", "model")) in (None, "file")


def test_a_file_that_the_run_returns_has_the_name_of_the_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "pipeline.py").write_text(TRIALS.replace("OPTIONS", "").replace("2.0", "0.2"))
    assert run(["run", "pipeline.py", "--name", "first", "--quiet"]) == 0
    assert run(["fetch", "first", "first.return", "-o", "best"]) == 0
    assert list(there(here / "best")) == ["train/1/model"]
    capsys.readouterr()
    assert run(["fetch", "first", "return"]) == 2
    wanted = "the run `first` has no step or output `return`; did you mean `first.return`? --list shows what"
    assert wanted in capsys.readouterr().err
