from flowdsl import pipeline, step


@step(image="python:3.12-slim", cpu=2)
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
