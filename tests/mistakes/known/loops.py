"""Loops over what is no list, over names that the step does not have, and over uneven rows."""

from typing import NamedTuple

from flowdsl import choice, command, container, fan_out, integer, pipeline, step


class Row(NamedTuple):
    model: str
    size: int


@step(image="python:3.12-slim")
def train(model: str, size: int = 224) -> None:
    print(model, size)


@step(image="python:3.12-slim")
def train_row(row: Row) -> None:
    print(row)


@container(image="trainer:1")
def infer(model: str) -> None:
    command("/bin/infer", "--model", model)


@step(image="python:3.12-slim")
def sizes(text: str) -> dict[str, int]:
    return {text: len(text)}


@step(image="python:3.12-slim")
def name(text: str) -> str:
    return text


@pipeline
def nightly() -> None:
    fan_out(train, over={"model": 5})
    fan_out(train, over={"model": "abc"})
    fan_out(train, over={"model": []})
    fan_out(train, over={"model": ["resnet", "vit"], "size": [224]})
    fan_out(train, over={"modle": ["resnet"]})
    fan_out(infer, over={"modle": ["resnet"]})
    fan_out(train, over={"size": [224, 384]})
    fan_out(train_row, over={"row": [{"model": "resnet", "size": 224}, {"model": "vit"}]})
    fan_out(train, over={"model": sizes("resnet")}, size=1)
    fan_out(train, over={"model": name("resnet")})
    fan_out(train, over={"model": ["a", "b"]}, model=name("vit"))
    fan_out(train, over={"model": ["a", "b"]}, with_param=name("vit"))
    fan_out(train, over={"model": choice("a", "b"), "size": integer(1, 5)})
