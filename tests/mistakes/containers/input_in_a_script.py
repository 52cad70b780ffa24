"""An input inside the text of a script."""

from flowdsl import command, container, pipeline


@container(image="bash:5.2")
def greet(name: str) -> None:
    command("bash", source=f"echo Hello {name}")


@pipeline
def nightly(name: str = "you") -> None:
    greet(name)
