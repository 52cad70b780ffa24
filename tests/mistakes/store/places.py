from pathlib import Path

from flowdsl import Volume, pipeline, run, step

DATA = Volume("datasets")
FIXED = Volume("reference", mode="ReadOnlyMany")


@step(image="python:3.12-slim", store="s3://bucket/runs")
def load() -> Path:
    return Path("table")


@step(image="python:3.12-slim", store=Path("runs"))
def clean(raw: Path) -> Path:
    return raw


@step(image="python:3.12-slim", store=FIXED / "runs")
def train(table: Path) -> Path:
    return table


@pipeline(store=DATA.ro / "runs")
def nightly() -> None:
    table = clean(load())
    train.options(store=DATA / "../runs")(table)
    train.options(name="again", store=DATA / f"runs/{run.name}")(table)
