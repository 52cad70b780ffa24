"""`=` and `!r` in an f-string."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 7


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def nightly(model: str = "resnet") -> None:
    score = evaluate(model)
    report.options(name="debug")(f"{score=}")
    report.options(name="quoted")(f"{model!r}")
