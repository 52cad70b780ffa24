"""A record of another class."""

from dataclasses import dataclass
from typing import NamedTuple

from flowdsl import pipeline, step


class Split(NamedTuple):
    train: float
    test: float


@dataclass
class Settings:
    lr: float
    layers: int


@step(image="python:3.12-slim")
def train(settings: Settings) -> float:
    return settings.lr * settings.layers


@pipeline
def nightly() -> None:
    train(Split(0.8, 0.2))
    train({"lr": 0.1, "layers": 2})
    train(Settings(lr="fast", layers=2))
