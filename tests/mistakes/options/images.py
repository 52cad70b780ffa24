"""Images that no node can pull."""

from flowdsl import Sidecar, pipeline, step


@step(image="Python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


@step(image="registry.example.com/team/train:", sidecars=[Sidecar("store", image="red is:7", command=["redis-server"])])
def publish(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    publish(0.1)
