from flowdsl import either, pipeline, step


@step(image="python:3.12-slim")
def best(table: str) -> float | None:
    return len(table) / 100 if table else None


@step(image="python:3.12-slim")
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(either(best("rates"), 0.1))
