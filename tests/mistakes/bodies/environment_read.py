"""Variables of the environment that are read at the top of the file, by what steps use."""

import os
from os import environ

from flowdsl import Secret, pipeline, step

BUCKET = os.environ.get("BUCKET")
REGION = f"eu-{os.getenv('REGION')}"
STAGE = environ.get("STAGE", "test")
TOKEN = environ.get("TOKEN")
IMAGE = os.environ.get("IMAGE", "python:3.12-slim")


@step(image=IMAGE, secrets={"TOKEN": Secret("hub", "token")}, env={"BUCKET": BUCKET or "reviews"})
def load(name: str) -> str:
    return f"{BUCKET}/{STAGE}/{name}/{TOKEN}"


@step(image="python:3.12-slim")
def publish(text: str) -> None:
    print(text, BUCKET, REGION, os.environ["HOME"])


@pipeline
def nightly(stage: str = STAGE) -> None:
    publish(load(stage))
