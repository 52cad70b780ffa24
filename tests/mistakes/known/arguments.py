"""Arguments that do not fit the step: misspelt, missing, too many, twice, of another type."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def load(table: str) -> Path:
    return Path(table)


@step(image="python:3.12-slim")
def count(table: str) -> str:
    return table


@step(image="python:3.12-slim")
def train(corpus: Path, epochs: int, lr: float = 0.1) -> None:
    print(corpus, epochs, lr)


@step(image="python:3.12-slim")
def echo(message: str) -> None:
    print(message)


@pipeline
def nightly() -> None:
    corpus = load("orders")
    train(corpus, epochs=3, leanring_rate=0.1)
    train(corpus)
    train(corpus, 3, workers=2)
    train(corpus, "abc")
    train(corpus, count("orders"))
    train(count("users"), 3)
    echo(corpus)
    echo("a", "b")
    echo("a", message="b")
    echo({"a", "b"})
    echo(object())
