"""A file that one step writes and the next one reads, at the paths that their programs have for it."""

from pathlib import Path

from flowdsl import command, container, pipeline


@container(image="busybox")
def hello_world_to_file() -> Path:
    script = "sleep 1; echo hello world | tee /tmp/hello_world.txt"
    return command("sh", "-c", script, paths={"return": "/tmp/hello_world.txt"})


@container(image="busybox")
def print_message_from_file(message: Path) -> None:
    command("sh", "-c", "cat /tmp/message", paths={"message": "/tmp/message"})


@pipeline
def artifact_passing() -> None:
    print_message_from_file(hello_world_to_file())
