"""A dataclass of the run given to `dataclasses.replace`, which takes instances only."""

import dataclasses

from flowdsl import pipeline, step


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float = 0.1
    layers: int = 2


@step(image="python:3.12-slim")
def train(config: Config) -> float:
    return config.rate / config.layers


@pipeline
def nightly(config: Config = Config(), rate: float = 0.5) -> float:
    return train(dataclasses.replace(config, rate=rate))
