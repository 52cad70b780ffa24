"""A file is handed to a parameter that is a text, and a text to one that is a file."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def download(url: str) -> Path:
    target = Path("data.bin")
    target.write_text(url)
    return target


@step(image="python:3.12-slim")
def name_of(url: str) -> str:
    return url.rpartition("/")[2]


@step(image="python:3.12-slim")
def publish(archive: Path, title: str) -> None:
    print(archive.name, title)


@pipeline
def release(url: str = "https://example.com/model.tar") -> None:
    archive = download(url)
    title = name_of(url)
    publish(title, archive)
