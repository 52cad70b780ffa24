"""What a step reads by its options, as an argument."""

from flowdsl import Config, Secret, pipeline, step


@step(image="python:3.12-slim")
def push(token: str, level: str) -> None:
    print(len(token), level)


@pipeline
def nightly() -> None:
    push(Secret("hub", "token"), Config("training", "level"))
