from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def threshold(score: float) -> float:
    return score / 2


@pipeline
def nightly(score: float = 0.5) -> None:
    threshold(score)
    fan_out(threshold.options(name="more"), over={"score": [0.1, 0.2]})
