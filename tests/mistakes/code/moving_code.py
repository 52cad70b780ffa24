"""A cached step with modules on a volume, which may change."""

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", cache=True, code=DATA / "src")
def embed(text: str) -> int:
    return len(text)


@pipeline
def nightly() -> None:
    embed("all")
