"""Searches that learn: over a step, over a pipeline, in a loop, with conditions, with texts that JSON escapes."""

from enum import Enum
from pathlib import Path
from typing import NamedTuple

from flowdsl import (
    Gp,
    Tpe,
    choice,
    fan_out,
    integer,
    loguniform,
    maximize,
    minimize,
    pipeline,
    quniform,
    step,
    sweep,
    uniform,
)


class Kind(Enum):
    ADAM = "adam"
    SGD = "sgd"


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image="python:3.12-slim")
def prepare(name: str) -> Path:
    data = Path("data")
    data.write_text(name)
    return data


@step(image="python:3.12-slim")
def train(data: Path, rate: float, layers: int, kind: Kind, momentum: float | None = None) -> Trained:
    model = Path("model")
    model.write_text(f"{data.read_text()} {rate} {layers} {kind} {momentum}")
    return Trained(model, rate * layers)


@step(image="python:3.12-slim")
def judge(prompt: str, widths: list[int], share: float = 0.5) -> float:
    return len(prompt) * share + sum(widths)


@pipeline
def trial(rate: float, layers: int) -> float:
    data = prepare("inner")
    return train(data, rate, layers, Kind.SGD).loss


@pipeline
def tuned(name: str) -> Trained:
    data = prepare(name)
    runs = sweep(
        train,
        over={
            "rate": loguniform(1e-4, 1.0),
            "layers": integer(1, 6),
            "kind": Kind,
            "momentum": uniform(0.0, 0.9).when("kind == SGD and rate > 0.01"),
        },
        objective=minimize("loss"),
        trials=18,
        parallel=4,
        search="tpe",
        seed=3,
        data=data,
    )
    return runs.best


@pipeline
def learning() -> None:
    runs = sweep(
        trial,
        over={"rate": quniform(0.0, 1.0, 0.05), "layers": [1, 2, 4]},
        objective=minimize(),
        trials=9,
        parallel=3,
        search=Tpe(startup=6, image="registry.example.com/optuna:5"),
    )
    sweep(
        judge,
        over={
            "prompt": choice('say "yes"', "say {no} {%", "a $(b)"),
            "widths": choice([1, 2], [3]),
            "share": quniform(0.0, 1.0, 0.25).when("prompt != 'a $(b)'"),
        },
        objective=maximize(),
        trials=12,
        parallel=2,
        search=Gp(image="registry.example.com/optuna-torch:5"),
    )
    models = fan_out(tuned, over={"name": ["a", "b"]})
    fan_out(judge, over={"prompt": ["x"]}, widths=[1], share=runs.best)
    fan_out(trial, over={"layers": [1, 2]}, rate=models[0].loss)
