"""Fields of a GPU request of the wrong type."""

from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, memory=40))
def memory(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, product=100))
def product(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, product="NVIDIA A100"))
def blank(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, mig="1g5gb"))
def partition(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, mig="5g.40gb"))
def impossible(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    memory(0.1)
    product(0.1)
    blank(0.1)
    partition(0.1)
    impossible(0.1)
