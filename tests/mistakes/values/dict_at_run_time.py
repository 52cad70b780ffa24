"""Methods of dicts, a position in a text, and the parts of lists that are known only in the run."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from flowdsl import fan_out, minimize, pipeline, run, step, sweep


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image="python:3.12-slim")
def train(rate: float) -> Trained:
    return Trained(Path("model"), rate)


@step(image="python:3.12-slim")
def measure(name: str) -> dict[str, float]:
    return {name: 1.0}


@step(image="python:3.12-slim")
def mean(losses: list[float]) -> float:
    return sum(losses) / len(losses)


@step(image="python:3.12-slim")
def wait(until: datetime) -> None:
    print(until)


@pipeline
def nightly(mode: str = "fast") -> None:
    measured = measure(mode[0])
    mean([measured.get("a", 0.0)])
    mean(list(measured.values()))
    runs = fan_out(train, over={"rate": [0.1, 0.2]}, keep_going=True)
    mean([one.loss for one in runs])
    first, second = runs
    mean([first.loss, second.loss])
    mean(rate * 2 for rate in [0.1, 0.2])
    wait(run.scheduled_time)
    found = sweep(train, over={"rate": [0.1, 0.2]}, objective=minimize("loss"))
    mean([found.best_value])
    mean([found.best.model])
