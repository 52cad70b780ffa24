import random
import time

from flowdsl import pipeline, run, step


@step(image="python:3.12-slim")
def today() -> str:
    return time.strftime("%Y-%m-%d")


@step(image="python:3.12-slim")
def train(seed: int, out: str) -> str:
    return f"{out} of {seed}"


@pipeline
def nightly(seed: int = 7) -> None:
    day = today()
    train(seed, f"{run.name}-{day}")
    epoch = time.strftime("%Y", time.gmtime(0))
    random.seed(7)
    for other in [random.randint(0, 100) for _ in range(3)]:
        train(other, f"{run.name}-{day}-{epoch}")
