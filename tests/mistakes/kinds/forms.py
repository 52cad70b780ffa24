"""Values that reach a step of a kind in a form that it cannot take."""

from pathlib import Path

from flowdsl import Volume, call_template, fan_out, manifest, pipeline, resource, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def write(text: str) -> Path:
    file = Path("text.txt")
    file.write_text(text)
    return file


@resource("apply")
def apply(objects: Path) -> None:
    manifest(objects)


@call_template("library", "train")
def train(corpus: Path) -> None: ...


@call_template("library", "merge")
def merge(files: list[Path]) -> None: ...


@pipeline
def nightly() -> None:
    apply(DATA / "objects.yaml")
    train(DATA / "raw")
    files = fan_out(write, over={"text": ["a", "b"]})
    merge(files)
