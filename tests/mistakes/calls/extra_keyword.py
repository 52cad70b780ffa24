"""A keyword that the step has no parameter for."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def tokenize(text: str, lower: bool = True) -> list[str]:
    return (text.lower() if lower else text).split()


@step(image="python:3.12-slim")
def ping() -> None:
    print("ready")


@pipeline
def prepare(text: str = "An example") -> None:
    tokenize(text, workers=4)
    ping(host="db")
