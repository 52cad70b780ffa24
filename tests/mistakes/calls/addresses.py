"""Addresses as texts, where files are wanted."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(raw: Path) -> int:
    return len(raw.read_text())


@pipeline
def nightly() -> None:
    a = count("s3://datasets/raw/orders.csv")
    b = count("gs://datasets/raw/orders.csv")
    c = count("https://example.com/orders.csv")
    d = count("git@example.com:team/orders.git")
    e = count(Path("s3://datasets/raw/orders.csv"))
    f = count("~/raw/orders.csv")
