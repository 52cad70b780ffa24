from pathlib import Path

from flowdsl import Torch, Volume, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")


@step(image="python:3.12-slim")
def prepare() -> Path:
    return Path("corpus.txt")


@step(image="python:3.12-slim", distributed=Torch(workers=4))
def train(corpus: Path, labels: Path) -> None:
    print(corpus, labels)


@pipeline(store=SHARED / "runs")
def nightly() -> None:
    train(prepare(), SHARED / "labels.csv")
