"""A member of an Enum, compared with its value."""

from enum import Enum, IntEnum

from flowdsl import pipeline, step, when


class Side(Enum):
    HEADS = "heads"
    TAILS = "tails"


class Grade(IntEnum):
    GOOD = 1
    BAD = 2


@step(image="python:3.12-slim")
def judge(seed: int) -> Grade:
    return Grade.GOOD


@step(image="python:3.12-slim")
def flip(seed: int) -> Side:
    return Side.HEADS if seed % 2 else Side.TAILS


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly(seed: int = 1) -> None:
    side = flip(seed)
    with when(side == "heads"):
        tell("won")
    with when(side.value == "tails"):
        tell.options(name="sorry")("lost")
    with when(judge(seed) >= Grade.BAD):
        tell.options(name="bad")("bad")
