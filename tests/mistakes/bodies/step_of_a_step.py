"""Two decorators of steps above one function: the options of the lower one would be lost."""

from flowdsl import GPU, pipeline, step

TORCH = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"


@step(image=TORCH, memory="32Gi")
@step(image=TORCH, gpu=GPU(1))
def train(rate: float) -> float:
    return rate * 2


urgent = step(image=TORCH, priority="high")(train)


@pipeline
def nightly() -> None:
    train(0.1)
    urgent(0.2)
