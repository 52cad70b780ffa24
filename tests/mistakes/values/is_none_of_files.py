"""`is None` on files that may be missing when the pipeline runs."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def find(text: str) -> Path | None:
    found = Path("found.txt")
    found.write_text(text)
    return found if text else None


@step(image="python:3.12-slim")
def find_all(text: str) -> list[Path] | None:
    return [Path(text)] if text else None


@step(image="python:3.12-slim")
def publish(file: Path | None, files: list[Path] | None) -> None:
    print(file, files)


@pipeline
def nightly(text: str = "cat") -> None:
    found = find(text)
    several = find_all(text)
    if found is not None:
        publish(found, several)
    if several is None:
        publish.options(name="none")(found, several)
