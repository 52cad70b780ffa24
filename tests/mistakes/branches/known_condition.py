"""A condition that is known while compiling."""

import os

from flowdsl import pipeline, step, unless, when

DEBUG = "DEBUG" in os.environ


@step(image="python:3.12-slim")
def publish(model: str) -> None:
    print(model)


@pipeline
def nightly(model: str = "resnet") -> None:
    with unless(False):
        publish(model)
    with when("resnet"):
        publish.options(name="again")(model)
