"""Times and tries of a step on several pods that are never reached."""

from flowdsl import Retry, Torch, Volume, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")


@step(
    image="python:3.12-slim",
    distributed=Torch(workers=2),
    timeout="2h",
    retries=Retry(2, wait="1m", within="30s"),
)
def train(rate: float) -> float:
    return rate


@pipeline(store=SHARED / "runs", timeout="1h")
def nightly() -> float:
    return train(0.1)
