from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly(learning_rate: float = 0.1) -> None:
    train(learning_rate)
