"""Steps and pipelines made from what is not a function."""

import functools

from flowdsl import container, fan_out, pipeline, step


def load(table: str, limit: int) -> int:
    return len(table[:limit])


class Counter:
    def __call__(self, table: str) -> int:
        return len(table)


count = step(image="python:3.12-slim")(len)
load_few = step(functools.partial(load, limit=10))
call = container(image="alpine:3.22")(Counter())


@step(image="python:3.12-slim")
class Table:
    def __init__(self, name: str) -> None:
        self.name = name


@pipeline
class Inner:
    def __init__(self) -> None:
        load_few("orders")


@pipeline
def nightly() -> None:
    first = count("orders")
    load_few(table=first)
    call(table=first)
    Table("orders")
    Inner()
    fan_out(count, over={"obj": ["a", "b"]})


printed = pipeline(print)
named = pipeline(name="named")("orders")
