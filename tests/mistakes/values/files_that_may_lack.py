"""Files that may not be there, alone and in a record: Argo has no text for that, and only a step can choose."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import either, pipeline, step, when


class Model(NamedTuple):
    weights: Path
    version: str


@step(image="python:3.12-slim")
def make(rows: int) -> Path | None:
    return None


@step(image="python:3.12-slim")
def publish(note: Path | None) -> None:
    print(note)


@step(image="python:3.12-slim")
def champion(rows: int) -> Model | None:
    return None


@step(image="python:3.12-slim")
def train(rows: int) -> Model:
    return Model(Path("weights"), f"{rows}")


@step(image="python:3.12-slim")
def deploy(model: Model) -> None:
    print(model)


@pipeline
def main(rows: int = 1) -> None:
    note = make(rows)
    with when(note != None):  # noqa: E711 -- it is no Python
        publish(note)
    old, new = champion(rows), train(rows)
    with when(old != None):  # noqa: E711 -- it is no Python
        deploy.options(name="again")(old)
    deploy(either(old, new))
    publish.options(name="other")(old.weights)
