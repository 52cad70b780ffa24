"""A keyword argument with a typing error."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("reviews")


@step(image="pytorch/pytorch:2.7.1", gpu=1)
def train(corpus: Path, learning_rate: float, layers: int = 2) -> Path:
    model = Path("model.bin")
    model.write_text(f"{corpus.stat().st_size} {learning_rate} {layers}")
    return model


@pipeline
def sentiment() -> None:
    train(DATA / "clean.txt", leanring_rate=0.1)
