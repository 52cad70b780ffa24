"""The results of a loop of which the rounds return nothing, handed to steps, looped over, and returned."""

from flowdsl import command, container, fan_out, pipeline, step


@step(image="python:3.12-slim")
def check(part: int) -> None:
    print(part)


@container(image="busybox:1.37.0")
def count(checked: list[None]) -> str:
    return command("echo", checked, stdout=True)


@step(image="python:3.12-slim")
def total(checked: list[int]) -> int:
    return sum(checked)


@step(image="python:3.12-slim")
def keep(anything: object, nothing: None = None) -> None:
    print(anything, nothing)


@pipeline
def nightly() -> list[None]:
    checked = fan_out(check, over={"part": [1, 2]})
    count(checked)
    total(checked)
    keep(checked[0], check(3))
    fan_out(keep, over={"anything": checked})
    return checked
