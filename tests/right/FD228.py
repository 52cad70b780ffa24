from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def migrate() -> None:
    print("migrated")


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    migrated = migrate()
    load.options(after=[migrated])("orders")
    load.options(after=[migrated], name="load-users")("users")
