"""Records whose fields have places of the cluster as defaults: the script of a step has the class, but no volume."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from flowdsl import Raw, Volume, pipeline, step

DATA = Volume("datasets")


@dataclass
class Settings:
    rate: float = 0.1
    corpus: Path = DATA / "raw.txt"


class Words(NamedTuple):
    size: int
    file: Path = Raw("words")


@step(image="python:3.12-slim")
def train(settings: Settings, words: Words) -> float:
    return settings.rate * words.size


@pipeline
def nightly() -> None:
    train(Settings(), Words(3))
