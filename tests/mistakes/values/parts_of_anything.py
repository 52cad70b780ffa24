"""Parts of a value that may be anything, where a number, a flag or a text is wanted."""

from typing import Any

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def evaluate() -> dict[str, Any]:
    return {"mse": {"value": 0.5}, "passed": True, "name": "a"}


@step(image="python:3.12-slim")
def publish(name: str) -> None:
    print(name)


@pipeline
def nightly() -> None:
    report = evaluate()
    with when(report["mse"]["value"] < 0.1):
        publish("good")
    with when(report["passed"]):
        publish.options(name="passed")(report["name"])
