"""A lambda as a step."""

from flowdsl import pipeline, step

today = step(image="python:3.12-slim")(lambda: __import__("time").strftime("%F"))


@pipeline
def nightly() -> None:
    today()
