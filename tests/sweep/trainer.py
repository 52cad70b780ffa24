from enum import Enum
from pathlib import Path
from typing import NamedTuple

from flowdsl import Mutex, Volume, pipeline, step

DATA = Volume("datasets")


class Optimizer(Enum):
    ADAM = "adam"
    SGD = "sgd"


class Scored(NamedTuple):
    model: Path
    accuracy: float
    loss: float


@step(image="python:3.12-slim")
def train(
    corpus: Path, rate: float, layers: list[int], optimizer: Optimizer, note: str | None, seed: int
) -> Scored:
    model = Path("model.txt")
    model.write_text(f"{rate} {layers} {optimizer.value} {note} {seed}", encoding="utf-8")
    return Scored(model, rate, 1 - rate if corpus.exists() else 1.0)


@pipeline(
    schedule="0 3 * * *",
    ttl="1h",
    timeout="2h",
    service_account="trainer",
    labels={"team": "search"},
    parallelism=4,
    locks=[Mutex("gpu-host")],
)
def reviews(
    corpus: Path = DATA / "raw.txt",
    rate: float = 0.1,
    layers: list[int] = [64],  # noqa: B006
    optimizer: Optimizer = Optimizer.ADAM,
    note: str | None = None,
    seed: int = 3,
) -> Scored:
    return train(corpus, rate, layers, optimizer, note, seed)
