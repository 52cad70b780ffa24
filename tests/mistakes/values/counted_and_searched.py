"""`len`, `in`, `max` and `sorted` on the result of a step."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def columns(table: str) -> list[str]:
    return table.split(",")


@step(image="python:3.12-slim")
def train(features: int, target: str) -> None:
    print(features, target)


@pipeline
def nightly() -> None:
    found = columns("price,date")
    train(len(found), "price")
    with when("price" in found):
        train.options(name="on-price")(2, "price")
    train.options(name="last")(2, max(found))
