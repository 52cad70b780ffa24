"""A value is changed in place."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def settings(name: str) -> dict[str, float]:
    return {"lr": len(name) / 100}


@step(image="python:3.12-slim")
def train(settings: dict[str, float]) -> None:
    print(settings)


@pipeline
def nightly() -> None:
    found = settings("resnet")
    found["lr"] = 0.1
    found.update(layers=2)
    train(found)
