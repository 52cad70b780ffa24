import os

from flowdsl import pipeline, step

DEBUG = "DEBUG" in os.environ


@step(image="python:3.12-slim")
def publish(model: str) -> None:
    print(model)


@pipeline
def nightly(model: str = "resnet") -> None:
    if not DEBUG:
        publish(model)
