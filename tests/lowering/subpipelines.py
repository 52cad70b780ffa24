"""Pipelines that call pipelines, in loops, sweeps and branches, with values and files handed back from two levels down."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import choice, either, fan_out, maximize, otherwise, pipeline, step, sweep, when


class Fit(NamedTuple):
    model: Path
    score: float


class Summary(NamedTuple):
    best: Path
    score: float
    scores: list[float]


@step(image="python:3.12-slim")
def shards(count: int) -> list[str]:
    return [f"shard {number}" for number in range(count)]


@step(image="python:3.12-slim")
def fit(shard: str, rate: float) -> Path:
    model = Path("model")
    model.write_text(f"{shard} {rate}")
    return model


@step(image="python:3.12-slim")
def evaluate(model: Path) -> float:
    return float(len(model.read_text()))


@step(image="python:3.12-slim")
def mean(scores: list[float]) -> float:
    return sum(scores) / len(scores)


@step(image="python:3.12-slim")
def publish(model: Path, scores: list[float], note: str) -> None:
    print(model.read_text(), scores, note)


@step(image="python:3.12-slim")
def collect(fits: list[Fit], score: float) -> str:
    return f"{len(fits)} {score}"


@pipeline
def trial(shard: str, rate: float) -> Fit:
    model = fit(shard, rate)
    return Fit(model, evaluate(model))


@pipeline
def average(rate: float, names: list[str]) -> float:
    return mean(fan_out(score_of, over={"shard": names}, rate=rate))


@pipeline
def score_of(shard: str, rate: float) -> float:
    return trial(shard, rate).score / 2


@pipeline
def search(shard: str, note: str = "none") -> Summary:
    runs = sweep(trial, over={"rate": choice(0.1, 0.2)}, objective=maximize("score"), shard=shard)
    with when(runs.best.score > 1.5):
        extra = trial(shard, 0.3)
        publish(extra.model, [extra.score], note)
    with otherwise():
        publish.options(name="plain")(runs.best.model, [runs.best.score], note)
    score = either(extra.score, runs.best.score)
    return Summary(runs.best.model, score, [runs.best.score, 1.0])


@pipeline
def subpipelines(count: int = 3) -> float:
    names = shards(count)
    found = search("all")
    fits = fan_out(trial, over={"shard": names}, parallel=2, rate=found.score)
    text = collect(fits, found.scores[0])
    publish(found.best, found.scores, text)
    rates = sweep(average, over={"rate": choice(0.1, 0.2)}, objective=maximize("return"), names=names, parallel=1)
    return rates.best
