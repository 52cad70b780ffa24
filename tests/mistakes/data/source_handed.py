"""A pipeline that returns the file it was given, under a condition, in a loop, and where it may fail."""

from pathlib import Path

from flowdsl import S3, either, fan_out, pipeline, step, when


@step(image="python:3.12-slim")
def use(files: list[Path]) -> None:
    print(files)


@step(image="python:3.12-slim")
def look(file: Path) -> None:
    print(file)


@pipeline
def checked(file: Path, part: int) -> Path:
    look(file)
    return file


@pipeline
def nightly(check: bool = False) -> None:
    raw = S3("raw/reviews.txt")
    use(fan_out(checked, over={"part": [1, 2]}, file=raw))
    with when(check):
        seen = checked(raw, 3)
    look(either(seen, raw))
    checked.options(may_fail=True, name="unused")(raw, 4)
    tried = checked.options(may_fail=True)(raw, 5)
    look.options(name="last")(either(tried, raw))
