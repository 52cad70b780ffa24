"""Names that Argo could not read where another task depends on them: the tasks have others."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def one(number: int) -> int:
    return number


@step(image="python:3.12-slim")
def matches(number: int) -> int:
    return number


@pipeline
def words() -> None:
    let = one(1)
    nil = one(let)
    matches(nil)
    in_ = one(2)
    one.options(name="sum")(in_)
