"""Names that no workflow can have."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline(name="nightly-training-of-all-the-models-that-the-natural-language-team-keeps")
def too_long() -> None:
    load("orders")


@pipeline(name="My_Workflow")
def capitals() -> None:
    load("orders")


@pipeline(name="bad name!")
def blank() -> None:
    load("orders")
