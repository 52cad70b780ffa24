import time

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def today() -> str:
    return time.strftime("%F")


@pipeline
def nightly() -> None:
    today()
