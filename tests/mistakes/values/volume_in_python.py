"""A volume, given to code that wants a path of this machine."""

import os

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def count(names: list[str]) -> int:
    return len(names)


@pipeline
def nightly() -> int:
    return count(os.listdir(DATA))
