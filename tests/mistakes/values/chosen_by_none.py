"""A default that is chosen with `is None`: one mistake, also where its type does not fit."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def find(text: str) -> int | None:
    return len(text) or None


@step(image="python:3.12-slim")
def publish(count: int) -> None:
    print(count)


@pipeline
def nightly(text: str = "cat") -> None:
    found = find(text)
    publish(found if found is not None else 3)
    publish.options(name="again")(0 if found is None else found)


@pipeline
def by_variables(text: str = "cat") -> None:
    found = find(text)
    count = found if found is not None else 3
    publish(count)
    if found is None:
        other = 0
    else:
        other = found
    publish.options(name="other")(other)
    if found is not None:
        publish.options(name="again")(found)
