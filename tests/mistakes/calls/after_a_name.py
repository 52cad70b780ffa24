"""`after` takes what calls returned, not names."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def migrate() -> None:
    print("migrated")


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    migrate()
    load.options(after=["migrate"])("orders")
    load.options(after=migrate, name="load-users")("users")
