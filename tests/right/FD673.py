from flowdsl import pipeline, step


@step(image="python:3.12-slim", cache=True)
def label(text: str) -> int:
    return len(text)


@pipeline
def nightly(day: str = "monday") -> None:
    label(f"run of {day}")
