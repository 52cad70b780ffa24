"""Tolerations that neither kubectl nor Kubernetes can read."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", tolerations=["spot node", "spot=a b", 5])
def key(lr: float) -> None:
    print(lr)


@step(
    image="python:3.12-slim",
    tolerations=[
        {"key": "spot", "colour": "red"},
        {"key": "spot", "operator": "Exists", "value": "true"},
        {"key": "spot", "effect": "Never"},
    ],
)
def fields(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    key(0.1)
    fields(0.1)
