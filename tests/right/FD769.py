from typing import Any

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def letters(table: str) -> dict[str, Any]:
    return {"letters": sorted({*table})}


@pipeline
def nightly() -> None:
    letters("orders")
