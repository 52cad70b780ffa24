"""Python's own `if`, `for` and arithmetic on what a step returns, and a value used outside of its branch."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def score(table: str) -> float:
    return float(len(table))


@step(image="python:3.12-slim")
def names(table: str) -> list[str]:
    return [table]


@step(image="python:3.12-slim")
def publish(score: float) -> None:
    print(score)


@pipeline
def nightly() -> None:
    found = score("orders")
    if found > 3:
        publish(found)
    for name in names("orders"):
        publish(score(name))
    publish(found**2)
    publish(names("users") + 1)
    with when(found > 0.5):
        better = score("better")
    publish(better)
