"""Variables of a command with names that no variable can have."""

from flowdsl import command, container, pipeline


@container(image="alpine:3.20")
def greet(name: str) -> None:
    command("sh", "-c", 'echo "$NAME"', env={"THE NAME": name, "LIST": [name]})


@pipeline
def nightly(name: str = "world") -> None:
    greet(name)
