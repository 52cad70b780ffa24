"""GPUs of a kind that cannot be asked for in this way."""

from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, vendor="nvdia"))
def vendor(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, resource="gpu"))
def resource(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, resource="nvidia.com/gpuu"))
def misspelt(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, mig="1g.5gb", vendor="amd"))
def partition(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, product="A100*"))
def pattern(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    vendor(0.1)
    resource(0.1)
    misspelt(0.1)
    partition(0.1)
    pattern(0.1)
