from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return 1 - (rate if rate > 0.5 else rate / 2)


@step(image="python:3.12-slim")
def judge(loss: float) -> None:
    print(loss)


@pipeline
def nightly(rate: float = 0.1) -> None:
    judge(train(rate))
