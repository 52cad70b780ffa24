"""Options of a run, said by a pipeline that another one calls."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load() -> int:
    return 3


@pipeline(timeout="1h", service_account="loader", priority="high", parallelism=2)
def loading() -> int:
    return load()


@pipeline(priority="high")
def nightly() -> int:
    return loading()
