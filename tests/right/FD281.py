from flowdsl import pipeline, step


@step(image="python:3.12-slim", where="zone == eu-1")
def assigned(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", where="zone in (eu-1, eu-2)")
def listed(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", gpu=1, where="gpu.memory >= 40G and not spot")
def memory(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    assigned(0.1)
    listed(0.1)
    memory(0.1)
