"""Files that are returned by keys which cannot be the names of files."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split(text: str, part: int) -> dict[str, Path]:
    Path("left").write_text(text[:part])
    Path("right").write_text(text[part:])
    if part == 0:
        return {"all/right": Path("right"), "left": Path("left"), "": Path("left")}
    return {"left": Path("left"), f"parts/{part}": Path("right")}


@pipeline
def nightly(text: str = "an example") -> None:
    split(text, 3)
