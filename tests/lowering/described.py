"""Parameters with descriptions, and a record with a file, of which every part is a parameter of the run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from flowdsl import Volume, pipeline, step

DATA = Volume("data")


@dataclass
class Settings:
    corpus: Path
    kind: Literal["fast", "exact"] = "fast"
    shuffled: bool = False


@step(image="python:3.12-slim")
def train(settings: Annotated[Settings, "what to train with"], seed: "Annotated[int, 'of the numbers']") -> None:
    print(settings.corpus.read_text(), settings.kind, settings.shuffled, seed)


@pipeline
def nightly(
    settings: Annotated[Settings, "what to train with"] = Settings(DATA / "raw.txt"),
    seed: Annotated[int, 7, "of the numbers that are drawn,\nwith {{item}} as it is"] = 1,
) -> None:
    train(settings, seed)
