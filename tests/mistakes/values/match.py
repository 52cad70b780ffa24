"""A `match` on a value that exists only when the pipeline runs."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def sizes(table: str) -> dict[str, int]:
    return {"rows": len(table)}


@step(image="python:3.12-slim")
def load(rows: int) -> None:
    print(rows)


@pipeline
def nightly(kind: str = "all", most: int = 100) -> None:
    match sizes("orders"):
        case {"rows": rows}:
            load(rows)
        case _:
            load(0)
    match kind:
        case "some" if most > 10:
            load.options(name="some")(most)
        case "all":
            load.options(name="all")(most)
