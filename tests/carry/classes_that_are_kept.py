"""Classes that a base, or a dict, keeps a list of: who needs the one needs all of them."""

from abc import ABC

from flowdsl import pipeline, step

MODELS: dict[str, type] = {}


class Model(ABC):
    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        MODELS[cls.__name__] = cls


class Linear(Model):
    pass


class Deep(Linear):
    pass


class Kept(type):
    known: list[str] = []

    def __init__(cls, name: str, bases: tuple[type, ...], content: dict[str, object]) -> None:
        super().__init__(name, bases, content)
        Kept.known.append(name)


class Score(metaclass=Kept):
    pass


class Loss(Score):
    pass


class Other(int):
    pass


@step(image="python:3.12-slim")
def train(kind: str) -> list[str]:
    return [MODELS[kind].__name__, *Kept.known]


@pipeline
def nightly() -> None:
    train("Linear")
