"""Options in the words of clouds and of other tools: GPUs, nodes, disks, settings."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", gpu=1, gpu_memory="40Gi", gpu_type="A100", node_pool="gpu-new")
def train(n: int) -> int:
    return n


@step(image="python:3.12-slim", disk="20Gi", configmap="settings", cmd="python", instance_type="g5.xlarge")
def load(n: int) -> int:
    return n


@pipeline
def nightly() -> None:
    train.options(name="small", retry=3, region="eu-1")(load(1))
