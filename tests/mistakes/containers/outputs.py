"""Outputs that do not exist, and outputs that are never written."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import command, container, output, pipeline


class Result(NamedTuple):
    labels: Path
    score: float


@container(image="ghcr.io/acme/infer:4")
def infer(model: str) -> Result:
    return command("/bin/infer", model, "--labels", output("label"), "--score", output("score"))


@container(image="ghcr.io/acme/infer:4")
def convert(model: str) -> Path:
    return command("/bin/convert", model)


@pipeline
def nightly() -> None:
    infer("resnet")
    convert("resnet")
