"""Pods that are packed or spread, queues, and parts of GPUs, where nothing is known of the cluster."""

from flowdsl import GPU, fan_out, pipeline, step

PYTHON = "python:3.12-slim"


@step(image=PYTHON, gpu=GPU(1, product="NVIDIA-L4", share="8Gi"), placement="pack", queue="team-a")
def embed(part: int) -> int:
    return part


@step(image=PYTHON, gpu=8, placement="spread", where="zone == eu-1", tolerations=["dedicated=ml:NoSchedule"])
def train(size: int) -> int:
    return size


@step(image=PYTHON, gpu=GPU(1, mig="1g.10gb+me"))
def decode(size: int) -> None:
    print(size)


@pipeline(queue="batch")
def case() -> None:
    sizes = fan_out(embed, over={"part": [1, 2, 3]})
    decode(train(sizes[0]))
