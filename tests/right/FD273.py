from flowdsl import pipeline, step


@step(image="python:3.12-slim", memory="8Gi")
def train(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", memory="512Mi")
def evaluate(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    evaluate(0.1)
