"""Files that are taken out of loops in a branch: where it does not run, `either` gives what stands in for them."""

from __future__ import annotations

import pytest

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from tests.end_to_end.world import World

SOURCE = """\
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, either, fan_out, minimize, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"
DATA = Volume("data")


class Fit(NamedTuple):
    loss: float
    model: Path


@step(image=PYTHON)
def fit(size: float) -> Fit:
    model = Path("model.txt")
    model.write_text(str(size))
    return Fit(size, model)


@step(image=PYTHON)
def show(model: Path | None) -> str:
    return model.read_text() if model else "none"


@pipeline
def main(begin: bool) -> None:
    with when(begin):
        each = fan_out(fit, over={"size": [1.0, 2.0]})
        tried = sweep(fit, over={"size": [3.0, 4.0]}, objective=minimize("loss"))
    show.options(name="row")(either(each[1].model, None))
    show.options(name="best")(either(tried.best.model, None))
    show.options(name="several")(either(either(tried.best.model, each[0].model), None))
    show.options(name="mixed")(either(each[0].model, DATA / "spare.txt"))
"""
GIVEN = {"row": "2.0", "best": "3.0", "several": "3.0", "mixed": "1.0"}
ABSENT = {"row": "none", "best": "none", "several": "none", "mixed": "spare"}


@pytest.mark.parametrize("store", ["", '(store=DATA / "runs")'])
@pytest.mark.parametrize("begin", [True, False])
def test_a_file_of_a_loop_that_did_not_run(begin: bool, store: str, world: World) -> None:
    world.volumes["data"].mkdir(parents=True, exist_ok=True)
    (world.volumes["data"] / "spare.txt").write_text("spare", encoding="utf-8")
    file = world.folder / "pipeline.py"
    file.write_text(SOURCE.replace("@pipeline\n", f"@pipeline{store}\n"), encoding="utf-8")
    result = compile_loaded(load(file))
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {"begin": str(begin).lower()})
    assert done.phase == "Succeeded"
    wanted = GIVEN if begin else ABSENT
    assert {name: (done.task(name).parameters or {})["return"] for name in wanted} == wanted
