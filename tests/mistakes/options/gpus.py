"""Requests for GPUs that no node can meet."""

from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=0.5)
def half(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=-1)
def negative(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu="A100")
def text(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu="")
def empty(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(0.5))
def part(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    half(0.1)
    negative(0.1)
    text(0.1)
    empty(0.1)
    part(0.1)
