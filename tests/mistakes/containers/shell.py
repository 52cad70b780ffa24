"""An input inside the text of a shell command."""

from flowdsl import command, container, pipeline


@container(image="alpine:3.20")
def greet(name: str) -> None:
    command("sh", "-c", f"echo hello {name}")


@pipeline
def nightly(name: str = "world") -> None:
    greet(name)
