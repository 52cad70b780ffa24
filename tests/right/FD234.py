from flowdsl import either, pipeline, step


@step(image="python:3.12-slim")
def find(text: str) -> float | None:
    return float(text) if text else None


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly(text: str = "0.1") -> None:
    train(either(find(text), 0.01))
