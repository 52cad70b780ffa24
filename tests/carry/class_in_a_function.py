from enum import Enum

from flowdsl import step


def make():
    class Hidden(Enum):
        A = 1

    return Hidden


def typed():
    kind = make()

    def fit(value) -> int:
        return 1

    fit.__annotations__["value"] = kind
    return fit


train = step(image="python:3.12-slim")(typed())
