"""Steps of one name: each keeps its own body, and both run."""

from flowdsl import command, container, pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print("first", table)


first = load


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print("second", table)


@container(image="alpine:3.22")
def show(text: str) -> None:
    command("echo", "first", text)


first_show = show


@container(image="alpine:3.22")
def show(text: str) -> None:
    command("echo", "second", text)


@pipeline
def nightly() -> None:
    first("orders")
    load("users")
    first_show("a")
    show("b")
