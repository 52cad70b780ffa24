"""How a task ended, asked for after the block."""

from flowdsl import on_exit, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(text: str) -> str:
    return text


@pipeline
def nightly() -> None:
    loss = train(1)
    with on_exit(loss) as training:
        tell("over")
    tell.options(name="status")(training.status)
