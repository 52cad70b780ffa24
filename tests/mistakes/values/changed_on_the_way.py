"""Values that JSON does not have, where a step takes Any."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from flowdsl import choice, fan_out, minimize, pipeline, step, sweep


class Row(NamedTuple):
    name: str
    size: int


@dataclass
class Point:
    x: int


class Mode(Enum):
    FAST = 1


@step(image="python:3.12-slim")
def rows(size: int) -> list[Row]:
    return [Row("a", size)]


@step(image="python:3.12-slim")
def names(size: int) -> dict[int, str]:
    return {size: "a"}


@step(image="python:3.12-slim")
def show(value: Any) -> None:
    print(value.name)


@step(image="python:3.12-slim")
def table(values: list[Any], settings: dict[str, Any] | None = None) -> int:
    return len(values)


@step(image="python:3.12-slim")
def cost(shape: Any) -> int:
    return len(shape)


@pipeline
def nightly(mode: Mode) -> None:
    found = rows(1)
    show.options(name="row")(found[0])
    show.options(name="known-row")(Row("b", 2))
    show.options(name="point")(Point(1))
    show.options(name="names")(names(3))
    show.options(name="mode")(mode)
    show.options(name="deep")([1, {"shape": (3, found[0].size)}])
    table(found)
    table.options(name="parts")([1, found[0]], {"mode": mode})
    fan_out(show, over={"value": found})
    fan_out(show.options(name="pairs"), over={"value": [(1, 2), (3, 4)]})
    sweep(cost, over={"shape": choice((1, 2), (3,))}, objective=minimize())
