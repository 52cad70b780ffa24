"""An output that is never written."""

from pathlib import Path

from flowdsl import command, container, pipeline


@container(image="ghcr.io/acme/infer:4")
def convert(model: str) -> Path:
    return command("/bin/convert", model)


@pipeline
def nightly() -> None:
    convert("resnet")
