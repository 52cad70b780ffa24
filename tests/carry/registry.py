from functools import singledispatch

from flowdsl import step


class Registry:
    def __init__(self) -> None:
        self.models = {}

    def register(self, name):
        def add(model):
            self.models[name] = model
            return model

        return add


models = Registry()
ARGUMENTS = {"name": "small"}


@models.register("small")
def small() -> int:
    return 1


@models.register("large")
class Large:
    size = 2


@singledispatch
def shown(value):
    return str(value)


@shown.register
def _(value: int):
    return f"int {value}"


@step(image="python:3.12-slim")
def train(name: str) -> str:
    return shown(models.models[name]())
