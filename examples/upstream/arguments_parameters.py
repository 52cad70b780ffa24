"""A parameter of the run with a default, handed to a step."""

from flowdsl import command, container, pipeline


@container(image="busybox")
def print_message(message: str) -> None:
    command("echo", message)


@pipeline
def arguments_parameters(message: str = "hello world") -> None:
    print_message(message)
