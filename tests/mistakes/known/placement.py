"""Labels of nodes and tolerations that Kubernetes refuses, or that match no node."""

from flowdsl import GPU, pipeline, step


@step(image="python:3.12-slim", node={"ssd": True})
def flag(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", node={"a b!": "c"})
def key(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", node={"disk": "c d"})
def value(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", node={"nvidia.com/gpu": "true"})
def gpu_as_label(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", tolerations=[{"key": "spot", "operator": "Exsts"}])
def operator(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, resource="nvidia.com/gpuu"))
def device(lr: float) -> None:
    print(lr)


@pipeline(labels={"team": "natural language"})
def nightly() -> None:
    flag(0.1)
    key(0.1)
    value(0.1)
    gpu_as_label(0.1)
    operator(0.1)
    device(0.1)
