"""A container without an image, and the words of its command as an option."""

from flowdsl import command, container, pipeline


@container()
def no_image(lr: float) -> None:
    command("/bin/train", lr)


@container(image="trainer:1", args="--lr 0.1")
def arguments(lr: float) -> None:
    command("/bin/train", lr)


@pipeline
def nightly() -> None:
    no_image(0.1)
    arguments(0.1)
