"""A list of numbers goes where one number is wanted: a loop was forgotten."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def seeds(count: int) -> list[int]:
    return list(range(count))


@step(image="python:3.12-slim")
def simulate(seed: int, scale: float = 1.0) -> float:
    return seed / 7 * scale


@pipeline
def monte_carlo() -> None:
    simulate(seeds(20))
    simulate.options(name="three")([1, 2, 3])
    fan_out(simulate.options(name="scaled"), over={"seed": [1, 2]}, scale=[0.1, 1.0])
