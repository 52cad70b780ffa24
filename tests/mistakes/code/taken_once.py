"""Times and random values that a pipeline takes for itself: once, when it is compiled."""

import random
import time as clock
from datetime import date, datetime
from uuid import uuid4 as unique

from flowdsl import pipeline, step

RUN = f"run-{datetime.now():%Y-%m-%d}"
SEEDED = random.Random(7)
LATER = lambda: datetime.now()  # noqa: E731 -- nothing calls it


@step(image="python:3.12-slim")
def train(seed: int, out: str) -> str:
    return f"{out} of {seed}"


@step(image="python:3.12-slim")
def publish(model: str, day: str) -> None:
    print(model, day)


@pipeline
def tried() -> str:
    return train(random.randint(0, 100), RUN + clock.strftime("%H"))


TODAY = date.today().isoformat()


@pipeline(labels={"built": f"{clock.time():.0f}"})
def daily(day: str = TODAY, hour: str = f"{datetime.now():%H}", *, rows: int = 3) -> None:
    publish(train(rows, hour), day)


@pipeline
def nightly(day: str = str(date.today())) -> None:
    shuffled = [*SEEDED.sample(range(10), 3), random.Random().randint(10, 99)]
    for seed in shuffled:
        publish(train(seed, f"model-{unique()}"), day)
    publish(tried(), day)

    @step(image="python:3.12-slim")
    def stamp() -> str:
        return clock.strftime("%H")

    stamp()
