"""Words of a container step in a pipeline."""

from flowdsl import command, output, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    load("orders")
    command("echo", "done", output())
