"""`is None` on a value that may be None only when the pipeline runs."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def find(text: str) -> str | None:
    return text or None


@step(image="python:3.12-slim")
def publish(text: str | None) -> None:
    print(text)


@pipeline
def nightly(text: str = "cat") -> None:
    found = find(text)
    if found is None:
        publish("nothing")
    publish.options(name="found")(found)
