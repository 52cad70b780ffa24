"""More metrics of a step than Argo takes in one template."""

from flowdsl import pipeline, step

COUNTERS = [
    {"name": f"trained_{part}", "help": "Trained parts", "counter": {"value": "1"}} for part in range(101)
]


@step(image="python:3.12-slim", argo={"metrics": {"prometheus": COUNTERS}})
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
