"""Dicts with whole numbers as keys, given and indexed with others."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def score(weights: dict[int, float]) -> dict[int, float]:
    return {"all": sum(weights.values())}


@step(image="python:3.12-slim")
def show(loss: float, models: dict[int, Path]) -> None:
    print(loss, models)


@pipeline
def nightly() -> None:
    scores = score({"3": 0.5})
    again = score({True: 0.5})
    score.options(name="same")({3: scores[3], 4: again["4"]})
