"""A `print` in the pipeline shows nothing of the run."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 7


@pipeline
def nightly(model: str = "resnet") -> None:
    score = evaluate(model)
    print(f"score: {score}")
