"""Conditions of spaces: on what is not searched, of another type, or that hold never or always."""

from enum import Enum

from flowdsl import choice, integer, maximize, pipeline, step, sweep, uniform


class Optimizer(Enum):
    ADAM = "adam"
    SGD = "sgd"


@step(image="pytorch/pytorch:2.7.1")
def train(
    layers: int, kind: Optimizer, warm: bool = False, dropout: float = 0.0, decay: float = 0.0
) -> float:
    return layers * dropout


@pipeline
def search() -> None:
    deep = uniform(0.0, 0.5).when("layer > 3")
    best = sweep(
        train,
        over={"layers": integer(1, 8), "kind": list(Optimizer), "dropout": deep},
        objective=maximize(),
        trials=20,
    ).best
    sweep(
        train,
        over={
            "layers": integer(1, 8),
            "kind": choice(Optimizer.ADAM, Optimizer.SGD).when("layers > "),
            "warm": choice(True, False).when("kind > adam"),
            "dropout": uniform(0.0, 0.5).when("layers > few"),
            "decay": uniform(0.0, 0.1).when(best),
        },
        objective=maximize(),
        trials=20,
    )
    sweep(
        train,
        over={
            "layers": integer(1, 8),
            "kind": list(Optimizer),
            "warm": choice(True, False).when("layers > 8 or kind == SGD"),
            "dropout": uniform(0.0, 0.5).when("layers >= 1").when("warm"),
            "decay": uniform(0.0, 0.1).when("layers > 5 and layers < 3"),
        },
        objective=maximize(),
        trials=20,
    )
