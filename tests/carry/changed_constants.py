import random

from flowdsl import step

NAMES = ["a", "b", "c", "d"]
LIMIT = 3
FACTOR = 2.0
SEEN = {}
FLAG = True


def setup() -> None:
    global LIMIT
    LIMIT = 4
    SEEN["x"] = 1


setup()
random.Random(1).shuffle(NAMES)
globals()["FACTOR"] = 2
globals()["FLAG"] = 1


@step(image="python:3.12-slim")
def train(n: int) -> str:
    return f"{LIMIT} {NAMES} {FACTOR} {SEEN} {FLAG}"
