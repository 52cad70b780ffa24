"""Steps that several pipelines call."""

from __future__ import annotations

from flowdsl import step


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)
