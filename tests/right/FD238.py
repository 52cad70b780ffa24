from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(epochs: int, lr: float = 1e-3) -> float:
    return epochs * lr


@pipeline
def nightly() -> None:
    train(3)
