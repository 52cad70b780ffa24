"""A pipeline that calls steps for its end only."""

from flowdsl import on_failure, pipeline, run, step


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    with on_failure():
        tell(f"{run.name} has failed")
