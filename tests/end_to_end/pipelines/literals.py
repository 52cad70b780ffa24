"""Values of a few that Python takes for equal, and None: their texts differ, and each arrives as what it is."""

from typing import Literal

from flowdsl import fan_out, pipeline, step

Level = Literal[1, True, "1"]


@step(image="python:3.12-slim")
def level(given: Level) -> Level:
    return given


@step(image="python:3.12-slim")
def spelled(levels: list[Level], last: Level) -> str:
    return " ".join(map(repr, [*levels, last]))


@step(image="python:3.12-slim")
def pair(size: int) -> tuple[int, None]:
    return size, None


@step(image="python:3.12-slim")
def parts(size: int, nothing: None, anything: object, maybe: str | None) -> str:
    return repr((size, nothing, anything, maybe))


@pipeline
def literals(given: Literal[1, True] = True) -> str:
    levels = fan_out(level, over={"given": [1, True, "1"]})
    size, nothing = pair(3)
    parts(size, nothing, nothing, nothing)
    last = level.options(name="last")(level.options(name="first")(given))
    return spelled(levels, last)
