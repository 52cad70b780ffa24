"""A table is looked up with the result of a step."""

from flowdsl import pipeline, step

IMAGES = {"resnet": 224, "vit": 384}


@step(image="python:3.12-slim")
def choose(task: str) -> str:
    return "vit" if task == "large" else "resnet"


@step(image="python:3.12-slim")
def train(model: str, size: int) -> None:
    print(model, size)


@pipeline
def nightly() -> None:
    model = choose("large")
    train(model, IMAGES.get(model, 224))
