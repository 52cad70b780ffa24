from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def best(scores: list[float]) -> int:
    for index, score in enumerate(scores):
        if score > 0.9:
            return index
    raise ValueError("no score is above 0.9")


@pipeline
def nightly() -> None:
    best([0.2, 0.95])
