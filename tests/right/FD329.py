import json

from flowdsl import pipeline, step

RATES = {"rate": 0.1}


@step(image="python:3.12-slim")
def train(steps: int) -> float:
    return RATES["rate"] / steps


@step(image="python:3.12-slim")
def write(rate: float) -> None:
    print(json.dumps({"rate": rate}))


@pipeline
def nightly() -> None:
    write(train(10))
