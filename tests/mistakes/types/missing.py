"""Parameters without annotations."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(corpus, lr=0.1, *, layers: int = 2) -> float:
    return len(corpus) * lr * layers


@pipeline
def nightly(corpus) -> None:
    train()
