"""`is` on a run-time value."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def check(table: str) -> bool:
    return bool(table)


@step(image="python:3.12-slim")
def alert(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    valid = check("orders")
    if valid is True:
        alert("valid")
    with when(check("users") is False):
        alert.options(name="invalid")("not valid")
