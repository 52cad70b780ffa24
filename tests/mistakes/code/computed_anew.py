"""Times and random values at the top of the file, which each step would compute for itself."""

import random
import time
from datetime import datetime
from random import random as chance
from uuid import uuid4

from flowdsl import pipeline, step

NAME = f"model-{datetime.now():%Y-%m-%d}-{uuid4()}"
SHARE = chance()
SEEDED = random.Random(7)
FIXED = SEEDED.random()


@step(image="python:3.12-slim")
def train(rows: int) -> str:
    began = time.time()
    return f"{NAME} of {rows * SHARE * FIXED} after {time.time() - began}"


@step(image="python:3.12-slim")
def publish(model: str) -> str:
    return f"{model} as {NAME}"


@pipeline
def nightly(rows: int = 1000) -> None:
    publish(train(rows))
