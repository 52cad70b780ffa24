"""Methods that tasks have in other tools: what a step is told, it is told before it is called."""

from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    accuracy: float


@step(image="python:3.12-slim")
def load(table: str) -> str:
    return table


@step(image="python:3.12-slim")
def train(table: str) -> Trained:
    return Trained(len(table))


@pipeline
def nightly() -> None:
    orders = load("orders").options(memory="8Gi")
    load("users").set_memory_limit("8Gi")
    train("a").after(orders)
    train("b").set_gpu_limit(1)
