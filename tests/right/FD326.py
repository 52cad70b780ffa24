from flowdsl import pipeline, step


@step(image="python:3.12-slim", cache=True)
def train(rate: float) -> float:
    return rate


@step(image="python:3.12-slim")
def report(loss: float) -> None:
    print(loss)


@pipeline
def tried(rate: float) -> float:
    return train(rate)


@pipeline
def nightly(rate: float = 0.1) -> None:
    report(tried.options(retries=2)(rate))
