"""Names that Kubernetes would refuse as they are: they are made to fit; and what begins a run is the pipeline itself."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def Load_Data(table: str) -> None:
    print(table)


@pipeline
def My_Workflow() -> None:
    Load_Data.options(name="a.b c")("items")
    Load_Data.options(name="x" * 200)("brands")


@pipeline(name="bad name!")
def blank() -> None:
    Load_Data("orders")


@pipeline(name="nightly-training-of-all-the-models-that-the-natural-language-team-keeps")
def too_long() -> None:
    Load_Data("orders")
