from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def refine(rows: int) -> int:
    return rows - 1


@pipeline
def nightly(rows: int = 1000) -> int:
    for number in range(250):
        rows = refine.options(name=f"round-{number}")(rows)
    return rows
