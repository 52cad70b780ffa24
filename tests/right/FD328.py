import os

from flowdsl import pipeline, step

BUCKET = os.environ.get("BUCKET")


@step(image="python:3.12-slim", env={"BUCKET": BUCKET or "reviews"})
def load(name: str) -> str:
    return f"{BUCKET}/{name}"


@pipeline
def nightly(name: str = "all") -> None:
    load(name)
