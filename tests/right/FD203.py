from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("reviews")


@step(image="pytorch/pytorch:2.7.1", gpu=1)
def train(corpus: Path, lr: float) -> float:
    return lr / corpus.stat().st_size


@pipeline
def sentiment() -> None:
    train(DATA / "clean.txt", lr=0.1)
