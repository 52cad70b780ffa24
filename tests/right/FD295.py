from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


@pipeline(name="uebung")
def nightly() -> None:
    train(0.1)
