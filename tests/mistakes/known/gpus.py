"""Numbers of GPUs that no node can give."""

from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=-1)
def negative(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=0.5)
def half(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu="two")
def word(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(3.5))
def three_and_a_half(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    negative(0.1)
    half(0.1)
    word(0.1)
    three_and_a_half(0.1)
