from flowdsl import pipeline, step, unless, when


@step(image="python:3.12-slim")
def check(table: str) -> bool:
    return bool(table)


@step(image="python:3.12-slim")
def alert(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    valid = check("orders")
    with when(valid):
        alert("valid")
    with unless(check("users")):
        alert.options(name="invalid")("not valid")
