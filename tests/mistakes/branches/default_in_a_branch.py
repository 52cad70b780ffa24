"""A second default, and a number of a branch that would be there in the other branch, too."""

from flowdsl import either, otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def train(lr: float) -> float | None:
    return lr


@step(image="python:3.12-slim")
def show(loss: float) -> None: ...


@pipeline
def nightly(deep: bool = False, base: float = 0.5) -> None:
    with when(deep):
        loss = either(train(0.1), 1.0)
        more = base * 2
        show(either(loss, 0.0))
    with otherwise():
        other = train.options(name="other")(0.2)
    show.options(name="more")(either(more, either(other, 0.0)))
