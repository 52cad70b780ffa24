"""A value that a loop of Python adds to itself, and one that it chooses out of itself: twice as large each time."""

from flowdsl import either, pipeline, step, when


@step(image="python:3.12-slim")
def loss(shard: int) -> float:
    return 1.0 / (shard + 1)


@step(image="python:3.12-slim")
def doubled(value: float, times: int) -> float:
    return float(value * 2**times)


@step(image="python:3.12-slim")
def report(value: float) -> None:
    print(value)


@pipeline
def nightly(worst: float = 0.5) -> None:
    grown = loss(0)
    for _ in range(80):
        grown = grown + grown
    report(grown)
    with when(worst > 0.1):
        chosen = loss(1)
    for _ in range(80):
        chosen = either(chosen, worst - chosen)
    report(chosen)
    with when(worst > 0.2):
        same = loss(2)
    same = either(same, worst)
    for _ in range(80):
        same = either(same, same)
    report(same)
    report(doubled(loss(3), 80))
