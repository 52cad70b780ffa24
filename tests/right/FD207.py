from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def improve(score: float) -> float:
    while score < 0.9:
        score = score * 1.1
    return score


@pipeline
def until_good() -> None:
    improve(0.5)
