"""An annotation with a name that is imported for type checkers only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl import pipeline, step

if TYPE_CHECKING:
    from pathlib import Path


@step(image="python:3.12-slim")
def count(table: Path) -> Path:
    return table.with_suffix(".count")


@pipeline
def nightly(table: Pth) -> None:
    count(table)
