"""Paths on a volume: one step, once with a path and once with an artifact, is two templates."""

from pathlib import Path

from flowdsl import Volume, pipeline, run, step

DATA = Volume("datasets")
MODELS = Volume("models")


@step(image="python:3.12-slim")
def clean(raw: Path) -> Path:
    cleaned = Path("cleaned")
    cleaned.write_text(raw.read_text().strip())
    return cleaned


@step(image="python:3.12-slim", mounts={"/out": MODELS / "latest", "/data": DATA.ro})
def train(corpus: Path) -> float:
    return float(corpus.stat().st_size)


@pipeline
def volume(month: str = "2026-11") -> None:
    first = clean(DATA / "raw" / month)
    second = clean(first)
    train(second)
    direct = train.options(name="direct", cpu=4)(DATA / f"runs/{run.name}")
    train.options(name="last", after=[direct])(DATA / "all")
