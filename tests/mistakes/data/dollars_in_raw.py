"""A text in which Kubernetes would replace `$$`."""

from pathlib import Path

from flowdsl import Raw, pipeline, step


@step(image="python:3.12-slim")
def use(file: Path) -> None:
    print(file)


@pipeline
def nightly() -> None:
    use(Raw("echo $$"))
