"""Steps that return a value, and do not say so."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(text: str):
    if not text:
        return 0
    return len(text)


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    if not text:
        return None
    if text == "again":
        return tell(text * 2)
    return {"told": text}


@pipeline
def nightly(text: str = "nothing") -> None:
    count(text)
    tell(text)
