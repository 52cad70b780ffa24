"""Results and texts of one type where another one is wanted, and parameters without a type."""

from dataclasses import dataclass
from pathlib import Path

from flowdsl import fan_out, pipeline, step


@dataclass
class Dataset:
    rows: Path


@dataclass
class Model:
    weights: Path


@step(image="python:3.12-slim")
def count(table: str) -> str:
    return table


@step(image="python:3.12-slim")
def collect(table: str) -> Dataset:
    return Dataset(Path(table))


@step(image="python:3.12-slim")
def split(rows: int) -> None:
    print(rows)


@step(image="python:3.12-slim")
def serve(model: Model) -> None:
    print(model)


@step(image="python:3.12-slim")
def bare(rows) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    split(count("orders"))
    split("12")
    serve(collect("orders"))
    bare(3)
    fan_out(count, over={"table": count("users")})
