"""The result of a task that may not have run is used outside its branch."""

from flowdsl import otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def is_large(table: str) -> bool:
    return len(table) > 5


@step(image="python:3.12-slim")
def train_large(table: str) -> float:
    return len(table) / 2


@step(image="python:3.12-slim")
def train_small(table: str) -> float:
    return len(table) / 3


@step(image="python:3.12-slim")
def publish(score: float) -> None:
    print(score)


@pipeline
def nightly(table: str = "orders") -> None:
    with when(is_large(table)):
        score = train_large(table)
    with otherwise():
        score = train_small(table)
    publish(score)
    publish.options(name="announce")(score or 0.0)
