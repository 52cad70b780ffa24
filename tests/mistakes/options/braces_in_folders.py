"""Folders with braces, which Argo would take for a tag."""

from pathlib import Path

from flowdsl import Git, Volume, pipeline, step

DATA = Volume("data")


@step(
    image="python:3.12-slim",
    code=DATA / "x/{{y}}",
    checkpoints=DATA / "x/{{y}}",
    mounts={"/d": DATA / "x/{{y}}"},
)
def train(rows: int) -> int:
    return rows


@step(
    image="python:3.12-slim",
    store=DATA / "x/{{y}}",
    code=Git("https://example.org/a", revision="v1") / "{{a}}",
)
def kept(rows: int) -> Path:
    return Path("out")


@pipeline
def main(rows: int = 1) -> None:
    train(rows)
    kept(rows)
