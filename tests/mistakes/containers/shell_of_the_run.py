"""A shell's program with what the run is and an input in one word."""

from flowdsl import command, container, pipeline, run


@container(image="busybox:1.36")
def greet(name: str) -> None:
    command("sh", "-c", f"echo {run.name}: hello {name}, and every other reader of this log")


@pipeline
def nightly(name: str = "you") -> None:
    greet(name)
