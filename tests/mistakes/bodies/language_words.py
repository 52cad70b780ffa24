"""Words of the language in the body of a step, and a value of the run that the pipeline keeps in the file."""

from flowdsl import Secret, Volume, pipeline, run, step

DATA = Volume("reviews")
TOKEN = Secret("hub", "token")
kept = 0


@step(image="python:3.12-slim")
def count() -> int:
    return len((DATA / "orders.csv").read_text())


@step(image="python:3.12-slim")
def publish(rows: int) -> None:
    print(run.name, rows, kept, TOKEN)


@pipeline
def child(rows: int) -> None:
    publish(rows)


@step(image="python:3.12-slim")
def start() -> None:
    child(3)


@pipeline
def nightly() -> None:
    global kept
    kept = count()
    publish(kept)
    start()
