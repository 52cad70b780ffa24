from pathlib import Path

from flowdsl import command, container, output, pipeline


@container(image="ghcr.io/acme/infer:4")
def convert(model: str) -> Path:
    return command("/bin/convert", model, "--out", output())


@pipeline
def nightly() -> None:
    convert("resnet")
