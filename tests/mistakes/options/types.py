"""Options of the wrong type."""

from flowdsl import pipeline, step


@step(image=3.12, retries="three", node="ssd", tolerations="spot")
def train(lr: float) -> None:
    print(lr)


@step(image="", retries=-1, env=["TOKEN"], priority=10)
def evaluate(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    evaluate(0.1)
