"""A `when` without `with` makes nothing conditional."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 10


@step(image="python:3.12-slim")
def publish(model: str) -> None:
    print(model)


@pipeline
def nightly(model: str = "resnet") -> None:
    when(evaluate(model) > 0.9)
    publish(model)
    with when(evaluate.options(name="again")(model) > 0.5) and when(evaluate.options(name="third")(model) < 0.9):
        publish.options(name="both")(model)
