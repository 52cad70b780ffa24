"""A `match` on a value that exists only when the pipeline runs."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def sizes(table: str) -> dict[str, int]:
    return {"rows": len(table)}


@step(image="python:3.12-slim")
def load(rows: int) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    match sizes("orders"):
        case {"rows": rows}:
            load(rows)
        case _:
            load(0)
