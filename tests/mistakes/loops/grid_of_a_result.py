"""A product with a list that a step returns."""

from flowdsl import fan_out, grid, pipeline, step


@step(image="python:3.12-slim")
def models(task: str) -> list[str]:
    return [task, "resnet"]


@step(image="python:3.12-slim")
def train(model: str, size: int) -> float:
    return len(model) / size


@pipeline
def nightly() -> None:
    fan_out(train, over=grid(model=models("vision"), size=[224, 384]))
