"""Steps without a return annotation, or annotated `-> None`, whose results are used."""

from flowdsl import either, pipeline, step, when


@step(image="python:3.12-slim")
def count(table: str):
    return len(table)


@step(image="python:3.12-slim")
def publish(rows: int) -> None:
    print(rows)


@pipeline
def nightly() -> None:
    rows = count("orders")
    with when(rows > 3):
        publish(rows + 1)
    done = publish.options(name="done")(5)
    with when(done):
        publish.options(name="again")(either(done, 3))
    first, second = count("users")
    publish.options(name="both")(rows.total)
    publish.options(name="result")(count("orders").result)
