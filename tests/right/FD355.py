"""The default behind both branches; and a value that a step makes in its branch."""

from flowdsl import either, otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def train(lr: float) -> float | None:
    return lr


@step(image="python:3.12-slim")
def double(base: float) -> float:
    return base * 2


@step(image="python:3.12-slim")
def show(loss: float) -> None: ...


@pipeline
def nightly(deep: bool = False, base: float = 0.5) -> None:
    with when(deep):
        loss = train(0.1)
        more = double(base)
    with otherwise():
        other = train.options(name="other")(0.2)
    show(either(either(loss, other), 1.0))
    show.options(name="more")(either(more, either(other, 0.0)))
