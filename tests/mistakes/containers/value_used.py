"""A container step that computes with its inputs."""

from flowdsl import command, container, pipeline


@container(image="alpine:3.20")
def repeat(name: str, times: int) -> None:
    words = [name for _ in range(times)]
    if name:
        words.append("end")
    command("echo", *words, f"{times:03}")


@pipeline
def nightly(name: str = "world") -> None:
    repeat(name, 3)
