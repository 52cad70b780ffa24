from flowdsl import pipeline, step


@step(image="python:3.12-slim", memory="4Gi")
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train.options(memory="8Gi", timeout="48h")(0.1)
