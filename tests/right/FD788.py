from flowdsl import pipeline, step


@step(image="python:3.12-slim", cache=True)
def train(rows: int, rate: float) -> float:
    return rows * rate


@pipeline
def main(rows: int = 1, rate: float = 0.1) -> float:
    return train(rows, rate)
