"""Nothing but pods of the default account; two pipelines in one namespace."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(argo={"metadata": {"namespace": "pipelines"}})
def first(table: str = "orders") -> None:
    load(table)


@pipeline(argo={"metadata": {"namespace": "pipelines"}})
def second(table: str = "orders") -> None:
    load(table)
