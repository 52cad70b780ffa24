"""A parameter with fields, taken apart where a step is called."""

from typing import NamedTuple

from flowdsl import command, container, pipeline


class Config(NamedTuple):
    a: str
    b: str
    c: str


USUAL = Config("1", "2", "3")


@container(image="busybox")
def show(a: str, b: str, c: str) -> None:
    command("sh", source='echo "$A$B$C"\n', env={"A": a, "B": b, "C": c})


@pipeline
def expression_destructure_json(config: Config = USUAL) -> None:
    show(config.a, config.b, config.c)
