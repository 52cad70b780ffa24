from flowdsl import step


class Trainer:
    @step(image="python:3.12-slim")
    def fit(self, n: int) -> int:
        return n


train = Trainer.fit
