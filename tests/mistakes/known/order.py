"""Order written in other ways than by passing results: arrows, names, and a text of conditions."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@step(image="python:3.12-slim")
def train(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    orders = load("orders")
    orders >> "train"
    train.options(name="by-name", after=["nope"])("a")
    train.options(name="by-text", after="orders.Suceeded")("b")
    train.options(name="by-word", depends="orders && users")("c")
    train.options(name="by-list", dependencies=["orders"], depends="orders")("d")
    train.options(name="by-tag")("{{tasks.orders.outputs.result}}")
