from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("reviews")


@step(image="python:3.12-slim")
def evaluate(model: Path, test_set: Path, batch: int = 32) -> float:
    return len(model.read_bytes()) / (batch + test_set.stat().st_size)


@pipeline
def nightly() -> None:
    evaluate(
        DATA / "models/latest.bin",
        DATA / "reviews/test.txt",
        batch=64,
    )
