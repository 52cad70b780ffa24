"""Files that go to a ReadWriteOnce claim: from items of a loop, and from two steps at the same time, one in a pipeline."""

from pathlib import Path

from flowdsl import Volume, fan_out, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")
ONCE = Volume("models", mode="ReadWriteOnce")
IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def split(part: int) -> Path:
    return Path(f"{part}.txt")


@step(image=IMAGE)
def count(file: Path) -> int:
    return len(file.read_text(encoding="utf-8"))


@pipeline
def counted(part: int) -> int:
    return count(split(part))


@pipeline(store=ONCE / "runs")
def nightly() -> None:
    sizes = fan_out(count, over={"file": [split.options(name="first")(1)]})
    fan_out(split.options(after=[sizes]), over={"part": [1, 2]})


@pipeline(store=ONCE)
def pair() -> None:
    counted(1)
    split.options(store=SHARED / "runs", name="elsewhere")(2)
    split(3)
