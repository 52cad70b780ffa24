"""Objectives inside of a record that is one of the outputs, without the way to them, or in one with files."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import maximize, minimize, pipeline, step, sweep


class Metrics(NamedTuple):
    loss: float
    accuracy: float


class Files(NamedTuple):
    size: int
    file: Path


class Trained(NamedTuple):
    files: Files
    metrics: Metrics


@step(image="python:3.12-slim")
def train(rate: float) -> Trained:
    return Trained(Files(1, Path("a")), Metrics(rate, 1 - rate))


@pipeline
def search() -> None:
    sweep(train, over={"rate": [0.1, 0.2]}, objective=maximize("files.size"))
    sweep(train.options(name="loss"), over={"rate": [0.1, 0.2]}, objective=minimize("loss"))
    sweep(train.options(name="whole"), over={"rate": [0.1, 0.2]}, objective=minimize("metrics"))
    sweep(train.options(name="files"), over={"rate": [0.1, 0.2]}, objective=minimize("files"))
    sweep(train.options(name="none"), over={"rate": [0.1, 0.2]}, objective=minimize("metrics.los"))
