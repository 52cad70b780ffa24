"""A list without the name of its parameter, beside an argument that all items share."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def score(model: str, seed: int) -> float:
    return len(model) / (seed + 1)


@pipeline
def nightly() -> list[float]:
    return fan_out(score, over=[1, 2, 3], model="small")
