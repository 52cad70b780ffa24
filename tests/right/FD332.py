from pathlib import Path

from flowdsl import command, container, output, pipeline


@container(image="ghcr.io/acme/infer:4")
def infer(model: str) -> Path:
    return command("/bin/infer", "--model", model, "--out", output())


@pipeline
def nightly() -> None:
    infer("resnet")
