"""A partition of a GPU of another vendor."""

from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, mig="1g.5gb", vendor="amd"))
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
