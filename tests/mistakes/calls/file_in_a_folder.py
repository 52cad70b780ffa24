"""A file is taken out of a folder with `/` in the pipeline."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def unpack(url: str) -> Path:
    folder = Path("unpacked")
    folder.mkdir()
    (folder / "part-0.csv").write_text(url)
    return folder


@step(image="python:3.12-slim")
def count(table: Path) -> int:
    return len(table.read_text())


@pipeline
def nightly() -> None:
    folder = unpack("https://example.com/archive.tar")
    count(folder / "part-0.csv")
