"""Times and random values that a pipeline takes for itself: once, when it is compiled."""

import random
import time
import uuid
from datetime import date, datetime

from flowdsl import pipeline, step

RUN = f"run-{datetime.now():%Y-%m-%d}"
LATER = lambda: datetime.now()  # noqa: E731 -- nothing calls it


@step(image="python:3.12-slim")
def train(seed: int, out: str) -> str:
    return f"{out} of {seed}"


@step(image="python:3.12-slim")
def publish(model: str, day: str) -> None:
    print(model, day)


@pipeline
def tried() -> str:
    return train(random.randint(0, 100), RUN + time.strftime("%H"))


@pipeline
def nightly(day: str = str(date.today())) -> None:
    shuffled = random.Random(7).sample(range(10), 3)
    for seed in shuffled:
        publish(train(seed, f"model-{uuid.uuid4()}"), day)
    publish(tried(), day)

    @step(image="python:3.12-slim")
    def stamp() -> str:
        return time.strftime("%H")

    stamp()
