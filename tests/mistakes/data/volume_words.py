"""Volumes with words that Kubernetes does not take."""

from flowdsl import Config, Host, NewVolume, Scratch, Secret, pipeline, step

WORK = NewVolume("work", "10 gigabytes", storage_class="Fast SSD")


@step(
    image="python:3.12-slim",
    env={"LEVEL": Config("app")},
    secrets={"TOKEN": Secret("hub")},
    mounts={
        "/work": WORK,
        "/tmp/scratch": Scratch("20GB of disk"),
        "/etc/app": Config("App"),
        "/keys": Secret("hub", "my key"),
        "/cache": Host("cache"),
        "/outside": Scratch() / "../other",
    },
    shm=0,
)
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
