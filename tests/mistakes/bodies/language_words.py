"""Words of the language in the body of a step."""

from flowdsl import Secret, Volume, pipeline, run, step

DATA = Volume("reviews")
TOKEN = Secret("hub", "token")


@step(image="python:3.12-slim")
def count() -> int:
    return len((DATA / "orders.csv").read_text())


@step(image="python:3.12-slim")
def publish(rows: int) -> None:
    print(run.name, rows, TOKEN)


@pipeline
def child(rows: int) -> None:
    publish(rows)


@step(image="python:3.12-slim")
def start() -> None:
    child(3)


@pipeline
def nightly() -> None:
    publish(count())
    start()
