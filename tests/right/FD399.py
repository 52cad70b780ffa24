from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("data")
EPOCHS = 3


def mean(rows: list[float]) -> float:
    total = 0.0
    for row in rows:
        total += row
    return total / len(rows)


@step(image="python:3.12-slim")
def fit(corpus: Path, rates: list[float]) -> float:
    epochs = EPOCHS * 2
    text = corpus.read_text()
    return mean(rates) * epochs + len(text.splitlines())


@pipeline
def nightly() -> None:
    fit(DATA / "corpus.txt", [0.1])
