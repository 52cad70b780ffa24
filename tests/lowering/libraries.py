"""Templates of WorkflowTemplates of the cluster: values and files in and out, in branches and loops."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, call_template, either, fan_out, pipeline, step, when

DATA = Volume("datasets")


class Trained(NamedTuple):
    model: Path
    accuracy: float


@call_template("library", "train", names={"learning_rate": "learning-rate", "model": "model-file"})
def train(corpus: Path, learning_rate: float, extra: Path | None = None) -> Trained:
    raise NotImplementedError


@call_template("shared", "score", cluster=True, names={"return": "score"})
def score(text: str) -> float:
    raise NotImplementedError


@call_template("shared", "clean-up", cluster=True)
def clean_up() -> None:
    raise NotImplementedError


@step(image="python:3.12-slim")
def read(source: Path) -> Path:
    return source


@step(image="python:3.12-slim")
def publish(model: Path, scores: list[float], share: float) -> None:
    print(model, scores, share)


@pipeline
def inner(corpus: Path, rate: float) -> float:
    return train(corpus, rate).accuracy


@pipeline
def libraries() -> float:
    corpus = read(DATA / "raw")
    made = train(corpus, 0.1)
    scores = fan_out(score, over={"text": ["a", "b"]})
    with when(made.accuracy > 0.5):
        again = score("c")
    clean_up.options(after=[again])()
    publish(made.model, scores, either(again, 0.0))
    return inner(corpus, made.accuracy)
