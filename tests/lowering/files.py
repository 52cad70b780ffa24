"""Files that steps return: packed, several, optional with a default, in records, chosen from different places."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import S3, Volume, either, fan_out, pipeline, step, when

DATA = Volume("datasets")


class Trained(NamedTuple):
    model: Path
    log: Path
    loss: float


@step(image="python:3.12-slim", archive={"model": "none", "log": 9})
def train(rate: float) -> Trained:
    return Trained(Path("model.bin"), Path("train.log"), rate)


@step(image="python:3.12-slim", archive="zip")
def parts(count: int) -> list[Path]:
    return [Path(f"{number}.txt") for number in range(count)]


@step(image="python:3.12-slim", archive={"return": "tar"})
def named(model: Path) -> dict[str, Path]:
    return {"model": model}


@step(image="python:3.12-slim")
def notes(rate: float) -> Path | None:
    return Path("notes.txt") if rate > 1 else None


@step(image="python:3.12-slim")
def publish(model: Path, note: Path | None = None) -> None:
    print(model, note)


@step(image="python:3.12-slim")
def report(texts: list[Path], models: dict[str, Path], trained: list[Trained], best: Trained) -> None:
    print(texts, models, trained, best)


@pipeline
def files(retrain: bool = False) -> None:
    first = train(0.1)
    note = notes(first.loss)
    publish(first.model, note)
    publish.options(name="with-default")(first.model, either(note, S3("notes/default.txt")))
    publish.options(name="on-volume")(either(note, DATA / "notes.txt"))
    with when(retrain):
        again = train.options(archive="none")(0.2)
        perhaps = notes.options(name="perhaps")(0.3)
    publish.options(name="which")(either(again.model, S3("models/base.bin")), either(perhaps, either(note, None)))
    report(parts(3), named(first.model), [first], first)
    report.options(name="all")(
        [first.log, DATA / "log.txt"], {"a": first.model}, fan_out(train.options(archive="none"), over={"rate": [1.0]}), first
    )
