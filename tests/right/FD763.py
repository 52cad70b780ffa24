from flowdsl import pipeline, run, step


@step(image="python:3.12-slim")
def train(lr: float, name: str) -> None:
    print(lr, name)


@pipeline
def nightly(lr: float = 0.1) -> None:
    train(lr, run.name)
