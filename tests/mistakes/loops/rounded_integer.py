"""A whole number of more than 53 bits in the items of a loop that runs over another list of the run, too."""

from flowdsl import fan_out, pipeline, step

MORE = [{"c": 2**53 + 1}]


@step(image="python:3.12-slim")
def names() -> list[str]:
    return ["a", "b"]


@step(image="python:3.12-slim")
def load(name: str, ids: dict[str, int]) -> int:
    return ids[name]


@pipeline
def nightly(more: list[dict[str, int]] = MORE) -> None:
    fan_out(load, over={"name": names(), "ids": [{"a": 1827364554433221123}, {"b": 2}]})
    fan_out(load.options(name="again"), over={"ids": more}, name="c")
    fan_out(load.options(name="built"), over={"ids": [{"a": load("a", {"a": 1})}, {"a": 2**53 + 1}]}, name="a")
