"""Syntax and modules that the Python of the image does not have yet."""

from flowdsl import pipeline, step


@step(image="python:3.8-slim")
def level(loss: float) -> str:
    match loss > 1:
        case True:
            return "high"
        case _:
            return "low"


@step(image="docker.io/library/python:3.9.19-bookworm", packages=["requests==2.32.3"])
def settings(text: str) -> int:
    import tomllib

    return len(tomllib.loads(text))


@step(image="python:3.7")
def words(text: str) -> int:
    if (count := len(text.split())) > 3:
        return count
    return 0


@pipeline
def nightly(text: str = "rows = 3") -> None:
    level(0.5)
    settings(text)
    words(text)
