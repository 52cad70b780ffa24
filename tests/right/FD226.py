import json

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> dict[str, float]:
    return {model: 0.5}


@step(image="python:3.12-slim")
def report(scores: dict[str, float]) -> None:
    print(json.dumps(scores))


@pipeline
def nightly() -> None:
    scores = evaluate("resnet")
    report(scores)
