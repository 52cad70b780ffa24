"""Claims that are made for the run, and read before anything is written to them."""

from pathlib import Path

from flowdsl import NewVolume, pipeline, step

WORK = NewVolume("work", "10Gi", mode="ReadWriteMany")
MODELS = NewVolume("models", "1Gi")


@step(image="python:3.12-slim", mounts={"/work": WORK})
def prepare(part: str) -> int:
    return Path("/work/clean.txt").write_text(part)


@step(image="python:3.12-slim", mounts={"/work": WORK.ro})
def train(rate: float) -> float:
    return rate * Path("/work/clean.txt").stat().st_size


@step(image="python:3.12-slim")
def publish(model: Path, score: float) -> None:
    print(model.read_text(), score)


@pipeline
def nightly() -> None:
    prepare("all")
    publish(MODELS / "best.bin", train(0.1))
