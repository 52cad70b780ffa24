"""More than any node has."""

from flowdsl import GPU, Sidecar, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, cpu=80)
def prepare() -> int:
    return 1


@step(image=IMAGE, gpu=GPU(8, product="V100*"))
def pretrain(size: int) -> float:
    return 1 / size


@step(image=IMAGE, gpu=GPU(product="H100*"))
def train(loss: float) -> float:
    return loss / 2


@step(image=IMAGE, gpu=GPU(1, memory="48Gi"))
def tune(loss: float) -> float:
    return loss / 2


@step(image=IMAGE, gpu=4, memory="300Gi", pool="gpu-old")
def judge(loss: float) -> None:
    print(loss)


@step(image=IMAGE, gpu=4, memory="600Gi", cpu=32)
def again(loss: float) -> None:
    print(loss)


@step(
    image=IMAGE,
    memory="400Gi",
    cpu=1,
    sidecars=[Sidecar("cache", image="redis:8", command=["redis-server"], memory="200Gi", cpu=100)],
)
def beside(loss: float) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    loss = tune(train(pretrain(prepare())))
    judge(loss)
    again(loss)
    beside(loss)
    judge.options(memory="200Gi", gpu=5, name="enough")(loss)
