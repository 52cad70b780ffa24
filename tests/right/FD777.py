from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def count(text: str) -> int:
    if not text:
        return 0
    return len(text)


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    if not text:
        return None
    if text == "again":
        return tell(text * 2)
    return print({"told": text})


@pipeline
def nightly(text: str = "nothing") -> None:
    count(text)
    tell(text)
