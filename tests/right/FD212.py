from flowdsl import either, pipeline, step, when


@step(image="python:3.12-slim")
def count(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def oldest(table: str) -> float | None:
    return len(table) / 2 if table else None


@step(image="python:3.12-slim")
def alert(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    with when(count("orders") > 100):
        alert("many")
    with when(either(oldest("orders"), 0.0) > 30.0):
        alert.options(name="old")("old")
