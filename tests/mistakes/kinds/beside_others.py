"""What steps say of themselves is looked at beside mistakes of another kind."""

from pathlib import Path

from flowdsl import S3, command, container, output, pipeline, step


@container(image="alpine:3.20")
def convert(table: Path, kind: str) -> Path:
    return command("sh", "-c", f"convert --to {kind} {table} > {output()}")


@step(image="python:3.12-slim", memory="4GB")
def train(table: Path, layers: int) -> float:
    return layers / len(table.read_text(encoding="utf-8"))


@pipeline
def nightly() -> None:
    train(convert(S3("tables/orders.csv"), "parquet"), "two")
