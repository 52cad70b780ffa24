"""A word whose arguments are those of a class that it comes from, called without them."""

from flowdsl import Secret, pipeline, step

TOKEN = Secret()


@step(image="python:3.12-slim", secrets={"TOKEN": TOKEN})
def login() -> None:
    print("in")


@pipeline
def main() -> None:
    login()
