"""Files of a loop that may not run, of loops inside of the items of another one, and items without a file."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, either, fan_out, pipeline, step, when

DATA = Volume("datasets")


class Trained(NamedTuple):
    loss: float
    model: Path


class Group(NamedTuple):
    runs: list[Trained]
    name: str


@step(image="python:3.12-slim")
def train(name: str, rate: float) -> Trained:
    model = Path("model.txt")
    model.write_text(f"{name} {rate}")
    return Trained(rate, model)


@step(image="python:3.12-slim")
def compare(group: Group) -> str:
    return f"{group.name}: {[(one.model.read_text(), one.loss) for one in group.runs]}"


@step(image="python:3.12-slim")
def show(model: Path) -> str:
    return model.read_text()


@step(image="python:3.12-slim")
def show_any(model: Path | None) -> str:
    return "none" if model is None else model.read_text()


@pipeline
def rates_of(name: str) -> Group:
    return Group(fan_out(train, over={"rate": [0.5, 2.0]}, name=name), name)


@pipeline
def files_of_loops(more: bool = True) -> None:
    groups = fan_out(rates_of, over={"name": ["ab", "c"]})
    fan_out(compare, over={"group": groups})
    usual = train.options(name="usual")("d", 1.0)
    with when(more):
        runs = fan_out(train.options(name="runs"), over={"rate": [4.0, 8.0]}, name="e")
    show(either(runs[1].model, usual.model))
    show_any(either(runs[0].model, None))
    fan_out(show_any.options(name="each"), over={"model": [DATA / "words", None]})
