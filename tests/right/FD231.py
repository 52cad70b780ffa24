from flowdsl import pipeline, step, unless, when


@step(image="python:3.12-slim")
def count_errors(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def alert(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    errors = count_errors("orders")
    with when(errors > 0):
        alert("errors")
    with unless(errors > 0):
        alert.options(name="fine")("no errors")
