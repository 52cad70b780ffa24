"""A folder of one pod, passed on as if other pods saw it."""

from pathlib import Path

from flowdsl import S3, Scratch, pipeline, step

SCRATCH = Scratch("10Gi")
BASE = S3("models/base.bin")


@step(image="python:3.12-slim", mounts={"/base": BASE})
def train(raw: Path, note: str) -> None:
    print(raw, note)


@pipeline
def nightly() -> None:
    train(SCRATCH / "raw", BASE)
    train.options(name="again")(BASE, f"from {BASE}")
