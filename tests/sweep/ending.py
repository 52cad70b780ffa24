"""A pipeline that says something at the end of its run."""

from flowdsl import on_exit, pipeline, run, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return 1 - rate


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def told(rate: float = 0.1) -> float:
    with on_exit():
        tell(run.status)
    return train(rate)
