"""Steps whose GPUs, CPUs or memory are in pools that let in only pods that tolerate their taints."""

from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, product="A100-40GB"))
def train(rate: float) -> float:
    return 1 - rate


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(2, memory="32Gi"), tolerations=["dedicated=inference:NoSchedule"])
def tune(rate: float) -> float:
    return 1 - rate


@step(image="pytorch/pytorch:2.7.1", gpu=1)
def old_will_do(rate: float) -> float:
    return 1 - rate


@step(image="python:3.12-slim", cpu=40)
def prepare(rate: float) -> float:
    return rate


@pipeline
def nightly() -> None:
    prepare(0.1)
    prepare.options(name="small", cpu=4)(0.1)
    prepare.options(name="large", memory="300Gi", cpu=None)(0.1)
    prepare.options(name="there", pool="gpu-new")(0.1)
    train(0.1)
    tune(0.1)
    old_will_do(0.1)
    train.options(name="named", pool="gpu-new")(0.2)
    train.options(name="tolerated", tolerations=["dedicated:NoSchedule"])(0.3)
    train.options(name="queued", queue="research")(0.4)
