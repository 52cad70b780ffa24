"""A script whose printed word decides which step runs."""

from flowdsl import command, container, pipeline, when

FLIP = """\
import random
result = "heads" if random.randint(0,1) == 0 else "tails"
print(result)
"""


@container(image="python:alpine3.23")
def flip_coin() -> str:
    return command("python", source=FLIP, stdout=True)


@container(image="busybox")
def heads() -> None:
    command("sh", "-c", 'echo "it was heads"')


@container(image="busybox")
def tails() -> None:
    command("sh", "-c", 'echo "it was tails"')


@pipeline
def coinflip() -> None:
    coin = flip_coin()
    with when(coin == "heads"):
        heads()
    with when(coin == "tails"):
        tails()
