"""A container that runs before that of the step and sees its volumes."""

from flowdsl import InitContainer, Scratch, command, container, pipeline

HELLO = InitContainer("hello", image="alpine:3.23", command=["echo", "hello"], mirror=True)


@container(image="alpine:3.23", mounts={"/foo": Scratch()}, init=[HELLO])
def bye() -> None:
    command("echo", "bye")


@pipeline
def init_container() -> None:
    bye()
