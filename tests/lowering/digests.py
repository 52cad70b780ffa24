"""Digests of files on their way to a key: lists, records, loops, branches, sub-pipelines, tasks that may fail."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Raw, choice, either, fan_out, minimize, pipeline, step, sweep, when

IMAGE = "python:3.12-slim"


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image=IMAGE)
def make(number: int) -> Trained:
    return Trained(Path("x"), number)


@step(image=IMAGE)
def numbers(count: int) -> list[int]:
    return list(range(count))


@step(image=IMAGE, cache=True)
def score(run: Trained, files: list[Path]) -> float:
    return run.loss + len(files)


@step(image=IMAGE, cache=True)
def size(file: Path) -> float:
    return file.stat().st_size


@pipeline
def made(number: int) -> Trained:
    run = make(number)
    return Trained(run.model, size(run.model))


@pipeline
def digests(count: int = 3) -> None:
    runs = fan_out(make, over={"number": numbers(count)})
    one = make(1)
    with when(one.loss > 0):
        two = make(2)
        size(two.model)
    fan_out(score, over={"run": runs}, files=[one.model, runs[0].model])
    best = sweep(made, over={"number": choice(1, 2)}, objective=minimize("loss"))
    size.options(name="best-size")(best.best.model)
    tried = make.options(may_fail=True)(4)
    size.options(name="tried-size")(either(tried.model, Raw("none")))
