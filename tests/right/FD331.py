from pathlib import Path

from flowdsl import command, container, output, pipeline

MODELS = {"small": "resnet18"}


@container(image="ghcr.io/acme/infer:4")
def infer(size: int) -> Path:
    return command("/bin/infer", "--model", MODELS["small"], "--size", size, "--out", output())


@pipeline
def nightly() -> None:
    infer(224)
