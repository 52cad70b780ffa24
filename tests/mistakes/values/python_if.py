"""Python's own `if` on a value that exists only when the pipeline runs."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 10


@step(image="python:3.12-slim")
def publish(model: str) -> None:
    print(model)


@step(image="python:3.12-slim")
def alert(score: float) -> None:
    print(score)


@pipeline
def nightly(model: str = "resnet") -> None:
    score = evaluate(model)
    if score > 0.9:
        publish(model)
    else:
        alert(score)
