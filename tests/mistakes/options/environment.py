"""Names that no variable can have, and a secret written out."""

from flowdsl import Secret, pipeline, step


@step(image="python:3.12-slim", env={"MY VAR": "1", "DEBUG": True}, secrets={"2FA": Secret("hub", "code")})
def train(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", secrets={"TOKEN": "hf_abc"}, env={"PATHS": ["a", "b"], "KEY": Secret("hub", "key")})
def publish(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    publish(0.1)
