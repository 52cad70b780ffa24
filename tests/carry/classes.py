import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from flowdsl import step


class Kind(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Base:
    factor = 2
    half = factor / 2

    def scaled(self, value: float) -> float:
        return value * self.factor * EXTRA


@dataclass
class Config(Base):
    lr: float
    kind: Kind = Kind.SMALL
    tags: list[str] = field(default_factory=list)


class Trained(NamedTuple):
    model: Path
    loss: float


EXTRA = 3


@step(image="python:3.12-slim")
def train(config: Config) -> Trained:
    return Trained(Path("model"), config.scaled(config.lr))
