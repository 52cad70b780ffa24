"""Names that are defined nowhere: the import was forgotten, and a name is misspelt."""

from flowdsl import pipeline, step

THRESHOLD = 0.5


@step(image="python:3.12-slim")
def evaluate(scores: list[float]) -> float:
    return np.mean([score for score in scores if score > THRESHOULD])


@pipeline
def nightly() -> None:
    evaluate([0.1, 0.9])
