from flowdsl import Git, pipeline, step


@step(image="python:3.12-slim", code=Git("https://example.com/m.git", revision="v1"))
def load(table: str) -> None:
    from tables import size

    print(size(table))


@pipeline
def nightly() -> None:
    load("orders")
