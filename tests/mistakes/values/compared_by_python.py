"""Functions of Python that compare what they are given."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> float:
    return lr


@step(image="python:3.12-slim")
def publish(loss: float, trials: int = 3) -> None:
    print(loss, trials)


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly(names: list[str]) -> None:
    losses = [train(lr) for lr in (0.1, 0.2)]
    publish(min(losses))
    publish(max(train(0.1), train(0.2)))
    publish(sorted(losses)[0])
    publish(losses[0], len(names))
    tell(len(names))
