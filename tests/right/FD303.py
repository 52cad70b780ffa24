from flowdsl import pipeline, step


class Trainer:
    lr = 0.1


@step(image="python:3.12-slim")
def train(lr: float, epochs: int) -> float:
    return lr * epochs


@pipeline
def nightly() -> None:
    train(Trainer.lr, 3)
