"""An input inside the text of a shell command, behind options in any order."""

from flowdsl import command, container, pipeline


@container(image="alpine:3.20")
def greet(name: str) -> None:
    command("sh", "-c", f"echo hello {name}")


@container(image="bash:5.2")
def shout(name: str) -> None:
    command("/usr/bin/env", "bash", "-c", "-o", "pipefail", "-x", f"echo HELLO {name}", name)


@pipeline
def nightly(name: str = "world") -> None:
    greet(name)
    shout(name)
