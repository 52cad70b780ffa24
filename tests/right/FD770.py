from typing import Any

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def keys(table: str) -> dict[str, Any]:
    return {"sizes": {"1": table, "None": 2}, "shape": [3, 4]}


@pipeline
def nightly() -> None:
    keys("orders")
