"""Variables that a step, or a function that it calls, reads before they have a value."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("data")
EPOCHS = 3


def mean(rows: list[float]) -> float:
    for row in rows:
        total += row
    return total / len(rows)


@step(image="python:3.12-slim")
def fit(corpus: Path, rates: list[float]) -> float:
    EPOCHS = EPOCHS * 2
    lines = text.splitlines()
    text = corpus.read_text()
    return mean(rates) * EPOCHS + len(lines)


@step(image="python:3.12-slim")
def load(corpus: Path) -> int:
    table = pandas.read_csv(corpus)
    import pandas

    found = [len(row) for row in rows]
    rows: list[str] = table.rows
    count += 1
    return len(found)


@pipeline
def nightly() -> None:
    fit(DATA / "corpus.txt", [0.1])
    load(DATA / "table.csv")
