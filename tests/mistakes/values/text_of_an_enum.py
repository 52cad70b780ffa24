"""A member of an Enum in a text of the run."""

from enum import Enum

from flowdsl import pipeline, run, step


class Environment(Enum):
    STAGING = "staging"
    PRODUCTION = "production"


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def release(environment: Environment = Environment.STAGING) -> None:
    tell(f"{run.name} goes to {environment}")
