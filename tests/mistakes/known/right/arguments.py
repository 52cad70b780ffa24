"""Arguments by position and by keyword, known now or made by a step; a dependency is the argument itself."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def gen(text: str) -> str:
    return text


@step(image="python:3.12-slim")
def echo(message: str) -> None:
    print(message)


@pipeline
def nightly() -> None:
    echo("hi")
    echo(message="hello")
    made = gen("a")
    echo.options(name="made")(made)
    echo.options(name="ordered", after=[made])(gen("b"))
