"""A first attempt with a mistake in every part: all are reported in one run."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import GPU, Volume, choice, loguniform, maximize, pipeline, step, sweep, when

DATA = Volume("datasets")


class Trained(NamedTuple):
    model: Path
    accuracy: float


@step(image="python:3.12-slim", memory="4GB")
def preprocess(raw: Path, min_length: int = 20) -> Path:
    out = Path("clean.txt")
    out.write_text("".join(line for line in raw.open() if len(line) >= min_lenght))
    return out


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, product="A100*"), where="zone in eu-1", timeout="6 hours")
def train(corpus: Path, lr: float, layers: int = 2) -> Trained:
    model = Path("model.bin")
    model.write_text(f"{corpus} {lr} {layers}")
    return Trained(model, 1.0 - lr)


@step(image="python:3.12-slim")
def publish(model: Path, accuracy: float) -> None:
    print(model.read_text(), accuracy)


@pipeline(paralelism=3)
def sentiment(min_accuracy: float = 0.9) -> None:
    corpus = preprocess("raw/reviews.txt", min_len=10)
    runs = sweep(
        train,
        over={"lr": loguniform(1e-5, 1e-1), "layer": choice(1, 2, 4)},
        trials=20,
        objective=maximize("acuracy"),
        corpus=corpus,
    )
    if runs.best.accuracy > min_accuracy:
        publish(runs.best.model)
    with when(runs.best.accuracy):
        publish.options(name="again")(runs.best.model, f"{runs.best.accuracy:.2f}")
