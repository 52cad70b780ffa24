"""Files of a loop that are made by one of several steps, by the trials of a sweep, and by loops inside."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import either, fan_out, minimize, otherwise, pipeline, step, sweep, when


class Trained(NamedTuple):
    loss: float
    model: Path


@step(image="python:3.12-slim")
def train(name: str, rate: float) -> Trained:
    model = Path("model.txt")
    model.write_text(f"{name} {rate}")
    return Trained(rate, model)


@step(image="python:3.12-slim")
def usual(name: str) -> Trained:
    model = Path("model.txt")
    model.write_text(f"usual {name}")
    return Trained(9.0, model)


@step(image="python:3.12-slim")
def compare(found: list[Trained], every: list[list[Trained]], pairs: list[list[Path]]) -> str:
    parts = (
        [one.model.read_text() for one in found],
        [[one.model.read_text() for one in some] for some in every],
        [[one.read_text() for one in some] for some in pairs],
    )
    return str(parts)


@step(image="python:3.12-slim")
def show(run: Trained) -> str:
    return f"{run.loss} {run.model.read_text()}"


@pipeline
def search(name: str) -> Trained:
    with when(name != "b"):
        runs = sweep(train, over={"rate": [0.2, 0.1]}, objective=minimize("loss"), name=name)
    with otherwise():
        other = usual(name)
    return either(runs.best, other)


@pipeline
def all_of(name: str) -> list[Trained]:
    return fan_out(train, over={"rate": [0.1, 0.2]}, name=name)


@pipeline
def both(name: str) -> list[Path]:
    return [usual(name).model, train(name, 0.5).model]


@pipeline
def scattered(names: list[str] = ["a", "b"]) -> tuple[str, list[str]]:
    found = fan_out(search, over={"name": names})
    every = fan_out(all_of, over={"name": names})
    pairs = fan_out(both, over={"name": names})
    others = fan_out(usual, over={"name": names})
    compare.options(name="lists")(others, [found, others], pairs)
    return compare(found, every, pairs), fan_out(show, over={"run": found})
