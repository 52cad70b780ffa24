"""A pattern as the product of a GPU."""

from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, product="A100*"))
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
