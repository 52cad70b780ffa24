from pathlib import Path
from typing import NamedTuple

from flowdsl import command, container, output, pipeline


class Result(NamedTuple):
    labels: Path
    score: float


@container(image="ghcr.io/acme/infer:4")
def infer(model: str) -> Result:
    return command("/bin/infer", model, "--labels", output("labels"), "--score", output("score"))


@pipeline
def nightly() -> None:
    infer("resnet")
