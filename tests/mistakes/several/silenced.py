"""Warnings that are silenced on their lines, and one that is not."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 7


@pipeline
def nightly(model: str = "resnet") -> None:
    score = evaluate(model)
    print(f"score: {score}")  # flowdsl: ignore[FD217]
    print(f"model: {model}")
    print(f"again: {score}")  # flowdsl: ignore[FD218]
