"""`where` texts that cannot be read."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", where="zone = eu-1")
def assigned(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", where="zone in eu-1, eu-2")
def listed(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", where="gpu.memory >= 40GB and not spot")
def memory(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", where="zone in (eu-1) &&")
def ended(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", where="gpu.memory >= 40")
def unit(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", where="zone == eu-1 and gpu.memory == 40Gi")
def equal(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    assigned(0.1)
    listed(0.1)
    memory(0.1)
    ended(0.1)
    unit(0.1)
    equal(0.1)
