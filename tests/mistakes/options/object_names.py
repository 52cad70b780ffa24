"""Names of objects of the cluster that Kubernetes refuses."""

from flowdsl import Secret, pipeline, step


@step(image="python 3.12", priority="High Priority", secrets={"TOKEN": Secret("Hub_Token", "token")})
def train(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", secrets={"TOKEN": Secret("", "token"), "KEY": Secret("hub", "a key")})
def publish(lr: float) -> None:
    print(lr)


@pipeline(service_account="ml_team")
def nightly() -> None:
    train(0.1)
    publish(0.1)
