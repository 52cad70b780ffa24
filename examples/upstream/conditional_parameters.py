"""The result of a pipeline comes from whichever of two steps ran."""

from flowdsl import command, container, either, pipeline, when

FLIP = """\
import random
print("heads" if random.randint(0,1) == 0 else "tails")
"""


@container(image="python:alpine3.23")
def flip_coin() -> str:
    return command("python", source=FLIP, stdout=True)


@container(image="python:alpine3.23")
def heads() -> str:
    return command("python", source='print("heads")\n', stdout=True)


@container(image="python:alpine3.23")
def tails() -> str:
    return command("python", source='print("tails")\n', stdout=True)


@pipeline
def conditional_parameters() -> str:
    coin = flip_coin()
    with when(coin == "heads"):
        first = heads()
    with when(coin == "tails"):
        second = tails()
    return either(first, second)
