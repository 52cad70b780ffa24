"""The class of an input has no name at the top of the file."""

from enum import Enum

from flowdsl import Step, pipeline, step


def make() -> Step[..., str]:
    class Color(Enum):
        RED = 1

    @step(image="python:3.12-slim")
    def paint(color: Color = Color.RED) -> str:
        return color.name

    return paint


paint = make()


@pipeline
def nightly() -> None:
    paint()
