from flowdsl import otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def sizes(table: str) -> dict[str, int]:
    return {"rows": len(table)}


@step(image="python:3.12-slim")
def load(rows: int) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    rows = sizes("orders")["rows"]
    with when(rows > 0):
        load(rows)
    with otherwise():
        load.options(name="nothing")(0)
