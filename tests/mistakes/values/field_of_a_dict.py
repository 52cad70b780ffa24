"""An element of a dict, written as a field."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(table: str) -> dict[str, float]:
    return {"loss": 1 / len(table)}


@step(image="python:3.12-slim")
def report(loss: float) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    scores = evaluate("orders")
    report(scores.loss)
    report.options(name="other")(scores.get("loss"))
