from pathlib import Path

from flowdsl import command, container, output, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@container(image="busybox:1.37.0")
def done() -> Path:
    return command("cp", "/etc/hostname", output())


@pipeline
def nightly() -> None:
    load("orders")
    done()
