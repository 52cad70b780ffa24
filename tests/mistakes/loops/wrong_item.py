"""An item of another type than the parameter."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def simulate(seed: int) -> float:
    return seed / 7


@pipeline
def monte_carlo() -> None:
    fan_out(simulate, over={"seed": [1, 2, "3", 4]})
