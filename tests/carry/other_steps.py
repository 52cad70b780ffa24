from flowdsl import pipeline, step


@step(image="python:3.12-slim", memory="4Gi")
def clean(text: str) -> str:
    return text.strip() + SUFFIX


SUFFIX = "!"
ARGUMENTS = {"text": " a "}


@step(image="python:3.12-slim")
def train(text: str) -> str:
    return clean(text) * 2


@pipeline
def flow(text: str = "x") -> None:
    train(text)
