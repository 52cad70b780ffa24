"""`init`: creates the first files of a project, which compile and run as they are."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from flowdsl.cli.files import save
from flowdsl.cli.process import DONE, Refused, err
from flowdsl.compiler.argo_versions import LATEST
from flowdsl.grammar.reason import said

_PIPELINE = '''\
"""A line through points: a pipeline to begin with.

    flowdsl run pipeline.py                                    on this machine
    flowdsl compile pipeline.py -o pipeline.yaml               the YAML for Argo Workflows
    flowdsl sweep pipeline.py rate=0.001,0.01,0.1 --metric max --run
"""

from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step, when

PYTHON = "python:3.12-slim"


class Trained(NamedTuple):
    model: Path  # a file: handed on as an artifact
    accuracy: float  # anything else: handed on as a parameter


@step(image=PYTHON)
def prepare(points: int) -> Path:
    data = Path("points.csv")
    data.write_text("".join(f"{x / points},{2 * x / points + 1}\\n" for x in range(points)), encoding="utf-8")
    return data


@step(image=PYTHON, cpu=1, memory="1Gi", retries=1, timeout="1h")  # gpu=1 asks for a card
def train(data: Path, rate: float, epochs: int = 100) -> Trained:
    points = [(float(x), float(y)) for x, y in (line.split(",") for line in data.read_text("utf-8").splitlines())]
    slope = start = 0.0
    for _ in range(epochs):
        for x, y in points:
            error = slope * x + start - y
            slope -= rate * error * x
            start -= rate * error
    model = Path("model.txt")
    model.write_text(f"{slope:.3f} * x + {start:.3f}\\n", encoding="utf-8")
    wrong = sum(abs(slope * x + start - y) for x, y in points) / len(points)
    return Trained(model, max(0.0, 1 - wrong))


@step(image=PYTHON)
def publish(model: Path) -> None:
    print("published:", model.read_text(encoding="utf-8"))


@pipeline
def line(points: int = 20, rate: float = 0.1, good_enough: float = 0.9) -> float:
    trained = train(prepare(points), rate)
    with when(trained.accuracy >= good_enough):
        publish(trained.model)
    return trained.accuracy
'''
_TEST = '''\
"""The pipeline as a whole, run on this machine: `pytest`."""

from pathlib import Path

from flowdsl.testing import RunPipeline
from pipeline import Trained, line


def test_a_good_model_is_published(run_pipeline: RunPipeline) -> None:
    run = run_pipeline(line)
    assert run.outputs > 0.9
    assert run.steps["publish"].log.startswith("published: 2.")


def test_a_poor_model_is_not(run_pipeline: RunPipeline, tmp_path: Path) -> None:
    model = tmp_path / "model.txt"
    model.write_text("0 * x", encoding="utf-8")
    run = run_pipeline(line, fakes={"train": Trained(model, 0.1)})
    assert run.steps["publish"].phase == "Skipped"
'''
_SETTINGS = f"""\
# What clusters are like, so that pipelines need not say it: docs/guide/clusters.md of flowdsl.
# `flowdsl compile pipeline.py --cluster onprem` compiles for this one.
[clusters.onprem]
argo = "{LATEST}"
"""
_FILES = {
    "pipeline.py": _PIPELINE,
    "test_pipeline.py": _TEST,
    "flowdsl.toml": _SETTINGS,
    ".gitignore": "# The runs on this machine\n.flowdsl/\n",
}


def start(folder: Path) -> int:
    """Write the first files of a project into a folder; returns the exit code. Raises Refused if one exists."""
    there = [name for name in _FILES if os.path.lexists(folder / name) and name != ".gitignore"]
    if there:
        raise Refused(f"{folder / there[0]} is there already: name another folder, as in `flowdsl init NAME`")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"the folder cannot be made: {said(error)}") from None
    written = [name for name in _FILES if not os.path.lexists(folder / name)]
    for name in written:
        save(_FILES[name], folder / name)
    # Runs are stored in the folder in which they are started.
    where = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
    names = ", ".join(str(folder / name) for name in written)
    err(f"written: {names}\nnext: {where}flowdsl run pipeline.py\n")
    return DONE
