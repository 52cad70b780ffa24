from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(corpus: str, lr: float = 0.1, *, layers: int = 2) -> float:
    return len(corpus) * lr * layers


@pipeline
def nightly(corpus: str) -> None:
    train(corpus)
