"""A method as a step."""

from flowdsl import pipeline, step


class Trainer:
    lr = 0.1

    @step(image="python:3.12-slim")
    def train(self: float, epochs: int) -> float:
        return self * epochs


@pipeline
def nightly() -> None:
    Trainer.train(0.1, 3)
