"""Conditions that compare with what a value never is, that are text, or that misspell a field."""

from typing import Literal, NamedTuple

from flowdsl import on_exit, pipeline, run, step, when



class Checked(NamedTuple):
    verdict: Literal["good", "bad"]
    score: float


@step(image="python:3.12-slim")
def check(table: str) -> Checked:
    return Checked("good", float(len(table)))


@step(image="python:3.12-slim")
def publish(text: str) -> None:
    print(text)


@pipeline
def nightly(optimizer: Literal["adam", "sgd"] = "adam") -> None:
    checked = check("orders")
    with when(checked.verdict == "goood"):
        publish("a")
    with when("Good" != checked.verdict):
        publish("b")
    with when(optimizer == "rmsprop"):
        publish("c")
    with on_exit(checked) as ended, when(ended.status == "Suceeded"):
        publish("d")
    with on_exit(), when(run.status == "failed"):
        publish("e")
    with when("{{tasks.check.outputs.parameters.scor}} > 0.9"):
        publish("f")
    with when("checked.score > > 0.9"):
        publish("g")
    with when(checked.scor > 0.9):
        publish("h")
