"""Variables with names that Kubernetes refuses, a secret that is written out, and one without a name."""

from flowdsl import Secret, pipeline, step


@step(image="python:3.12-slim", env={"MY VAR": "1"})
def blank(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", env={"API_TOKEN": "hf_9aZkQ81mmPq2", "PASSWORD": "correct-horse-battery"})
def written(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", secrets={"API_TOKEN": "hub"})
def text(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", secrets={"API_TOKEN": Secret("", "token")})
def no_name(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    blank(0.1)
    written(0.1)
    text(0.1)
    no_name(0.1)
