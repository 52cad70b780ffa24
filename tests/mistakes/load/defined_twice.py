from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clean(x: int) -> int:
    return x


@pipeline
def main() -> int:
    return clean(1)


@step(image="python:3.12-slim")
def clean(x: int) -> int:
    return x + 1
