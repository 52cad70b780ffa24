"""A condition in the word of other tools, as an attribute of flowdsl."""

import flowdsl as dsl


@dsl.step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate


@dsl.pipeline
def nightly(rate: float = 0.1) -> None:
    with dsl.If(train(rate) > 0.5):
        train.options(name="again")(rate)


@dsl.pipeline
def otherwise(rate: float = 0.1) -> None:
    with dsl.when(train(rate) > 0.5):
        train.options(name="again")(rate)
    with dsl.Else():
        train.options(name="less")(rate / 10)
