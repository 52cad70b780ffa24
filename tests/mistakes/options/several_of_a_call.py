"""Several arguments of one `Retry` and one `GPU` that are wrong."""

from flowdsl import GPU, Retry, pipeline, step


@step(
    image="python:3.12-slim",
    retries=Retry(0, wait="soon", factor=0, policy="Never", exit_codes=[0], messages=[""], elsewhere="yes"),
    gpu=GPU(-1, memory="much", vendor="nvdia", product=3, mig=1, share="8GB?"),
)
def train(rate: float) -> float:
    return rate


@pipeline
def nightly() -> None:
    train(0.1)
