"""A helper below the step that has the name of the step's function."""

from collections.abc import Callable

from flowdsl import Step, pipeline, step

load_step: Step[[str], int]


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table) + RATES["orders"]


load_step = load
RATES, load = {"orders": 3}, None


@pipeline
def nightly() -> None:
    load_step("orders")
