"""Steps that tolerate the taints of the pools that have their GPUs."""

from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, product="A100-40GB"), pool="gpu-new")
def train(rate: float) -> float:
    return 1 - rate


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(2, memory="32Gi"), tolerations=["dedicated=training:NoSchedule"])
def tune(rate: float) -> float:
    return 1 - rate


@step(image="pytorch/pytorch:2.7.1", gpu=1)
def old_will_do(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    train(0.1)
    tune(0.1)
    old_will_do(0.1)
