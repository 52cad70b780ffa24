import random
import time
from uuid import uuid4

from flowdsl import pipeline, step

SEEDED = random.Random(7)
FIXED = SEEDED.random()


@step(image="python:3.12-slim")
def named() -> str:
    return f"model-{time.time_ns()}-{uuid4()}"


@step(image="python:3.12-slim")
def train(rows: int, name: str, share: float) -> str:
    began = time.time()
    return f"{name} of {rows * share * FIXED} after {time.time() - began}"


@step(image="python:3.12-slim")
def publish(model: str, name: str) -> str:
    return f"{model} as {name}"


@pipeline
def nightly(share: float, rows: int = 1000) -> None:
    name = named()
    publish(train(rows, name, share), name)
