from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def improve(score: float) -> float:
    return score * 1.1


@pipeline
def until_good(score: float = 0.5) -> None:
    for _ in range(5):
        score = improve(score)
