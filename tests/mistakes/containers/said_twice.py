"""Two programs in one container, one command each."""

from flowdsl import command, container, pipeline

VERBOSE = True


@container(image="busybox:1.37.0")
def greet(name: str) -> None:
    command("echo", "hello", name)
    command("echo", "goodbye", name)


@container(image="busybox:1.37.0")
def part(name: str) -> None:
    if VERBOSE:
        command("echo", "goodbye", name)
    command("true")


@pipeline
def nightly() -> None:
    greet("world")
    part("world")
