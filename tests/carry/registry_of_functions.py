from flowdsl import step

MODELS = {}
TIMES = {}
ARGUMENTS = {"name": "small"}


def register(function):
    MODELS[function.__name__] = function
    return function


def timed(label):
    def decorate(function):
        TIMES[label] = 0
        return function

    return decorate


@register
def small() -> int:
    return 1


@register
def large() -> int:
    return 2


@step(image="python:3.12-slim")
@timed("other")
def other() -> int:
    return 3


@step(image="python:3.12-slim")
@timed("train")
def train(name: str) -> int:
    return MODELS[name]() + len(MODELS)
