"""The class of an Enum for its members, and two members of a Flag at once."""

from enum import Enum, Flag, auto

from flowdsl import choice, fan_out, maximize, pipeline, step, sweep


class Optimizer(Enum):
    ADAM = "adam"
    SGD = "sgd"


class Feature(Flag):
    TEXT = auto()
    IMAGE = auto()


@step(image="python:3.12-slim")
def train(optimizer: Optimizer, features: Feature = Feature.TEXT) -> float:
    return len(optimizer.name) / features.value


@pipeline
def nightly() -> None:
    sweep(train, over={"optimizer": choice(Optimizer)}, objective=maximize())
    fan_out(train.options(name="members"), over={"optimizer": Optimizer})
    train.options(name="both")(Optimizer.SGD, Feature.TEXT | Feature.IMAGE)
