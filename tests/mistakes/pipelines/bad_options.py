"""Options of a pipeline that make no sense."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


@pipeline(
    parallelism=-2,
    timeout="one day",
    ttl=-5,
    service_account="",
    labels={"team": "natural language", "cost center": "42"},
    annotations={"retries": 3},
)
def nightly() -> None:
    train(0.1)
