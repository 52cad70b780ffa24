"""A function that is generated under the name of this file, in which it does not stand."""

from typing import Any

from flowdsl import pipeline, step

TEMPLATE = """\
def count(table: str) -> int:
    return len(table) * FACTOR
"""

made: dict[str, Any] = {}
exec(compile(TEMPLATE.replace("FACTOR", "2"), __file__, "exec"), made)
count = step(image="python:3.12-slim")(made["count"])


@pipeline
def nightly() -> None:
    count("orders")
