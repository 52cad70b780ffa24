from statistics import mean

from flowdsl import pipeline, step

THRESHOLD = 0.5


@step(image="python:3.12-slim")
def evaluate(scores: list[float]) -> float:
    return mean([score for score in scores if score > THRESHOLD])


@pipeline
def nightly() -> None:
    evaluate([0.1, 0.9])
