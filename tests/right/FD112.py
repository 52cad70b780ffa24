from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def clean(x: int) -> int:
    return x


@step(image="python:3.12-slim")
def clean_more(x: int) -> int:
    return x + 1


@pipeline
def main() -> int:
    return clean_more(clean(1))
