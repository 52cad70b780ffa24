"""Arguments by name for parameters that are taken by position, the other way round, and defaults that say nothing."""

from typing import Any

from flowdsl import pipeline, step


class Settings:
    pass


@step(image="python:3.12-slim")
def load(table: str, /, rows: int = 100, *, sorted_by: str, columns: list[str] = ["a column", "another column"]) -> int:
    return rows + len(columns)


@step(image="python:3.12-slim")
def tell(text: str, /, *, settings: Any = Settings()) -> None:
    print(text, settings)


@pipeline
def main() -> None:
    load(table="orders", sorted_by="day")
    sales = load("sales", 100, "day")
    tell(f"{sales} rows", "loud")
    tell.options(name="again")(settings={})
