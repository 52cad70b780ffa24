"""Words of a command and of the environment that no program can be given, and a text with half a character."""

from flowdsl import command, container, pipeline


@container(image="busybox:1.37.0", env={"SEPARATOR": "a\0b"}, annotations={"owner": "\ud800"})
def split() -> None:
    command("split", "--separator", "\0")


@pipeline
def nightly() -> None:
    split()
