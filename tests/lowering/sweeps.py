"""The best trial by an expression, a trial that is a pipeline, and a step that picks among very many."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import choice, integer, loguniform, maximize, minimize, pipeline, step, sweep, when


class Trained(NamedTuple):
    model: Path
    loss: float


class Judged(NamedTuple):
    model: Path
    score: float


@step(image="python:3.12-slim")
def prepare() -> Path:
    data = Path("data")
    data.write_text("numbers")
    return data


@step(image="python:3.12-slim")
def train(data: Path, rate: float, layers: int, kind: str = "mlp") -> Trained:
    model = Path("model")
    model.write_text(f"{data.read_text()} {rate} {layers} {kind}")
    return Trained(model, rate * layers)


@step(image="python:3.12-slim")
def judge(model: Path, data: Path, loss: float) -> Judged:
    judged = Path("judged")
    judged.write_text(f"{model.read_text()} of {data.read_text()}")
    return Judged(judged, 1 - loss)


@step(image="python:3.12-slim")
def publish(model: Path, score: float, everything: list[Judged]) -> None:
    print(model.read_text(), score, [(one.model.read_text(), one.score) for one in everything])


@step(image="python:3.12-slim")
def announce(model: Path, loss: float) -> None:
    print(model.read_text(), loss)


@pipeline
def trial(data: Path, rate: float, layers: int) -> Judged:
    trained = train(data, rate, layers)
    return judge(trained.model, data, trained.loss)


@pipeline
def sweeps(least: float = 0.5) -> float:
    data = prepare()
    trials = sweep(
        trial,
        over={"rate": loguniform(1e-4, 1e-1), "layers": integer(1, 4)},
        trials=6,
        parallel=2,
        seed=3,
        objective=maximize("score"),
        min_success=3,
        data=data,
    )
    with when(trials.best.score >= least):
        publish(trials.best.model, trials.best.score, trials.results)
    many = sweep(
        train,
        over={"rate": [0.001 * number for number in range(1, 252)], "layers": [1, 2]},
        objective=minimize("loss"),
        data=data,
        kind="rnn",
    )
    announce(many.best.model, many.best.loss)
    return trials.best.score
