"""Methods of an object as steps and pipelines, and a lambda with a parameter."""

from flowdsl import pipeline, step

double = step(image="python:3.12-slim")(lambda number: 2 * number)


class Trainer:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    @step(image="python:3.12-slim")
    def train(self, rows: int) -> float:
        return self.rate * rows

    @pipeline
    def twice(self, rows: int) -> float:
        return self.train(2 * rows)

    def fit(self, rows: int) -> float:
        return self.rate * rows


fit = step(image="python:3.12-slim")(Trainer(0.1).fit)


@pipeline
def nightly(rows: int = 3) -> float:
    trainer = Trainer(0.1)
    trainer.twice(double(rows))
    fit(3)
    return trainer.train(rows) + 1.0
