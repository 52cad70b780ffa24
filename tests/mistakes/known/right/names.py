"""Names that Kubernetes would refuse as they are: the compiler makes them fit, and writes what begins the run."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def Load_Data(table: str) -> None:
    print(table)


@pipeline
def My_Workflow() -> None:
    Load_Data("orders")
