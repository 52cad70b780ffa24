"""A pipeline that is called returns a value that is computed from those of its steps."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str, fold: int) -> float:
    return len(model) / fold


@step(image="python:3.12-slim")
def report(score: float) -> None:
    print(score)


@pipeline
def cross_validate(model: str) -> float:
    first = evaluate(model, 1)
    second = evaluate(model, 2)
    return (first + second) / 2


@pipeline
def nightly() -> None:
    report(cross_validate("resnet"))
