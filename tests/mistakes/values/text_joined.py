"""What Python's own function ends with keeps the rest of the body from being looked at."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def names() -> list[str]:
    return ["a", "b"]


@step(image="python:3.12-slim")
def say(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    found = names()
    say(", ".join(found))
    say(len(found))
