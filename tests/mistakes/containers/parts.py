"""Parts of a command that are no text."""

from pathlib import Path

from flowdsl import command, container, output, pipeline


@container(image="ghcr.io/acme/infer:4")
def infer(model: str) -> Path:
    return command(["/bin/infer", "--model"], model, "--out", output(), None)


@pipeline
def nightly() -> None:
    infer("resnet")
