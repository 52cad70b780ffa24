"""A function that is made from text: there is no file to take its source from."""

from typing import Any

from flowdsl import pipeline, step

made: dict[str, Any] = {}
exec("def count(table: str) -> int: return len(table)", made)
count = step(image="python:3.12-slim")(made["count"])


@pipeline
def nightly() -> None:
    count("orders")
