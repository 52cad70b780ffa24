"""Amounts that Kubernetes takes: powers of ten and of two, and GPUs."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", memory="8G", cpu="500m")
def decimal(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", memory="8Gi", cpu=0.5, gpu=GPU(1, mig="1g.5gb"))
def binary(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    decimal(0.1)
    binary(0.1)
