"""Times and random values as defaults: of a pipeline itself, and of the steps that it calls."""

import random
import time
from datetime import date

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(day: str = date.today().isoformat(), *, since: float = time.time()) -> str:
    return f"{day} {since}"


@pipeline
def main(seed: int = random.randint(0, 9)) -> str:
    return load(str(seed))
