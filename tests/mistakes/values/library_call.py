"""A value is given to a library that wants it now."""

import json
import os

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> dict[str, float]:
    return {model: 0.5}


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    scores = evaluate("resnet")
    report(json.dumps(scores))
