"""Products that the cluster does not have, and memory that no label of its nodes tells."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", gpu=GPU(1, product="A100-80GB"))
def train(rate: float) -> float:
    return 1 - rate


@step(image="python:3.12-slim", gpu=1, where="gpu.product in (A100-40GB, A100) or gpu.product == Tesla-T4")
def judge(loss: float) -> float:
    return loss


@step(image="python:3.12-slim", gpu=1, node={"gpu.product": "A100"})
def look(loss: float) -> None:
    print(loss)


@step(image="python:3.12-slim", gpu=GPU(1, vendor="amd", memory="32Gi"))
def read(loss: float) -> None:
    print(loss)


@step(image="python:3.12-slim", gpu=GPU(1, resource="huawei.com/Ascend910", memory="32Gi"))
def write(loss: float) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    loss = judge(train(0.1))
    look(loss)
    read(loss)
    write(loss)
