"""Options of the wrong type."""

from enum import Enum

from flowdsl import GPU, pipeline, step


class Card(Enum):
    A100 = "NVIDIA-A100-SXM4-40GB"


@step(image=3.12, retries="three", node="ssd", tolerations="spot", packages=["numpy==2.1", 3])
def train(lr: float) -> None:
    print(lr)


@step(image="", retries=-1, env=["TOKEN"], priority=10, gpu=GPU(product=Card.A100))
def evaluate(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    evaluate(0.1)
