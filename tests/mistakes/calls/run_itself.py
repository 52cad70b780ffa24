"""The run where its name is wanted, an objective that is a function, and a slice of results that may lack some."""

from flowdsl import fan_out, maximize, pipeline, run, step, sweep


@step(image="python:3.12-slim")
def score(rate: float) -> float:
    return rate


@step(image="python:3.12-slim")
def tell(text: str, scores: list[float]) -> None:
    print(text, scores)


@pipeline
def nightly() -> None:
    scores = fan_out(score, over={"rate": [0.1, 0.2]}, keep_going=True)
    sweep(score, over={"rate": [0.1]}, objective=maximize(lambda one: one))
    tell(run, scores[1:])
