from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def score(rate: float, trials: int) -> float:
    return rate * trials


@pipeline(name="by-hand")
def first(rate: float = 0.1, score_: int = 2) -> float:
    return score(rate, score_)


@pipeline
def second(rate: float, trials: int) -> float:
    return score(rate, trials)


@pipeline
def flowdsl(rate: float = 0.1, choice: int = 2) -> float:
    return score(rate, choice)


@pipeline
def wrong(rate: float = 0.1, trails: int = "2") -> float:
    return score(rate, trails, depth=3)
