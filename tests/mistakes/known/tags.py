"""Argo's tags in text: of tasks, outputs and parameters that are nowhere, and of no loop."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@pipeline
def nightly() -> None:
    load("{{tasks.nope.outputs.result}}")
    load("{{tasks.load.outputs.parameters.nope}}")
    load("{{workflow.parameters.nope}}")
    load("{{item}}")
    load("{{steps.load.outputs.result}}")
