"""Pipelines that return what is computed, or taken out of values: in a loop, of a sweep, with files."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from flowdsl import either, fan_out, maximize, pipeline, step, sweep, when


@dataclass
class Config:
    name: str
    rates: list[float]
    note: str | None = None


class Scored(NamedTuple):
    model: Path
    score: float


class Found(NamedTuple):
    model: Path
    name: str
    first: float
    ratio: float
    note: str | None
    chart: Path | None


@step(image="python:3.12-slim")
def train(name: str, rate: float) -> Scored:
    model = Path("model.txt")
    model.write_text(f"{name} {rate}")
    return Scored(model, rate * len(name))


@step(image="python:3.12-slim")
def show(found: list[Found], last: Found, title: str) -> str:
    rows = [(one.model.read_text(), one.name, one.first, one.ratio, one.note) for one in (*found, last)]
    return f"{title} {rows}"


@step(image="python:3.12-slim")
def title(found: Found) -> str:
    return f"{found.name} {found.chart}"


@pipeline
def tuned(config: Config) -> Found:
    runs = sweep(train, over={"rate": [0.5, 2.0, 1.0]}, objective=maximize("score"), name=config.name)
    usual = fan_out(train.options(name="usual"), over={"rate": [4.0, 8.0]}, name=config.name)
    with when(runs.best.score > config.rates[0]):
        more = train.options(name="more")(config.name, config.rates[1])
    best = either(more.score, runs.best.score)
    return Found(usual[1].model, config.name, config.rates[0], best / usual[0].score, config.note, None)


@pipeline
def best_of(name: str) -> Scored:
    return sweep(train, over={"rate": [0.5, 2.0]}, objective=maximize("score"), name=name).best


@pipeline
def returned(
    configs: list[Config] = [Config("ab", [3.0, 16.0]), Config('c"', [3.0, 32.0], "n")],
) -> str:
    found = fan_out(tuned, over={"config": configs})
    best = best_of("xyz")
    last = Found(best.model, "last", best.score, best.score / 2, None, None)
    fan_out(title, over={"found": found})
    return show(found, last, configs[0].name)
