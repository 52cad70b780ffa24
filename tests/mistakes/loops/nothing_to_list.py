"""The results of a loop of which the rounds return nothing, handed to a program."""

from flowdsl import command, container, fan_out, pipeline, step


@step(image="python:3.12-slim")
def check(part: int) -> None:
    print(part)


@container(image="busybox:1.37.0")
def count(checked: list[None]) -> str:
    return command("echo", checked, stdout=True)


@pipeline
def nightly() -> str:
    checked = fan_out(check, over={"part": [1, 2]})
    return count(checked)
