from pathlib import Path

from flowdsl import NewVolume, Volume, pipeline, step

WORK = NewVolume("work", "10Gi", mode="ReadWriteMany")
MODELS = Volume("models")


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
    prepared = prepare("all")
    publish(MODELS / "best.bin", train.options(after=[prepared])(0.1))
