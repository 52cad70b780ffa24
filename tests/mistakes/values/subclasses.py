"""Records of a class below the one that is wanted, abstract ones, and those with an `__init__` of their own."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from flowdsl import pipeline, step


@dataclass
class Base:
    n: int


@dataclass
class Kid(Base):
    extra: int = 7


@dataclass
class Shape(ABC):
    n: int

    @abstractmethod
    def area(self) -> int: ...


@dataclass(init=False)
class Own:
    n: int

    def __init__(self, k: int) -> None:
        self.n = k


@step(image="python:3.12-slim")
def mk() -> Kid:
    return Kid(3)


@step(image="python:3.12-slim")
def rd(c: Base) -> str:
    return f"{c}"


@step(image="python:3.12-slim")
def sh(c: Shape) -> str:
    return f"{c}"


@step(image="python:3.12-slim")
def ow(c: Own) -> str:
    return f"{c}"


@step(image="python:3.12-slim")
def kids() -> list[Kid]:
    return [Kid(3)]


@step(image="python:3.12-slim")
def bases(c: list[Base]) -> str:
    return f"{c}"


@pipeline
def p() -> str:
    rd(Kid(3))
    bases(kids())
    return rd(mk())
