"""All pipelines are methods of a class."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


class Experiment:
    lr = 0.1

    @pipeline
    def nightly(self) -> None:
        train(self.lr)

    @pipeline
    def weekly(self) -> None:
        self.nightly()
