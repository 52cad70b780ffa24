from flowdsl import pipeline, step


@step(image="python:3.12-slim", gpu=1)
def train(lr: float) -> None:
    print(lr)


@pipeline(parallelism=4)
def nightly() -> None:
    train(0.1)
