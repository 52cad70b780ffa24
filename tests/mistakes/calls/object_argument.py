"""An object of a library, where a step takes JSON."""

from datetime import date

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def report(day: str, options: dict[str, object]) -> None:
    print(day, options)


@pipeline
def daily() -> None:
    report(date(2026, 1, 31), options={"until": date(2026, 2, 1)})
