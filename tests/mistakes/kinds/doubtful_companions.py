"""Secrets that are written out, and images without a version, in containers beside a step and in a command."""

from flowdsl import Sidecar, command, container, pipeline, step


@step(
    image="python:3.12-slim",
    sidecars=[Sidecar("cache", image="redis", command=["redis-server"], env={"REDIS_PASSWORD": "4Rzs8yXbQ2"})],
)
def train(lr: float) -> None:
    print(lr)


@container(image="trainer:1")
def fetch(table: str) -> None:
    command("/bin/fetch", table, env={"HUB_TOKEN": "hf_4Rzs8yXbQ2"})


@pipeline
def nightly() -> None:
    train(0.1)
    fetch("orders")
