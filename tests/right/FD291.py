from flowdsl import either, otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def is_large(table: str) -> bool:
    return len(table) > 5


@step(image="python:3.12-slim")
def train_large(table: str) -> float:
    return len(table) / 2


@step(image="python:3.12-slim")
def train_small(table: str) -> float:
    return len(table) / 3


@step(image="python:3.12-slim")
def publish(score: float) -> None:
    print(score)


@pipeline
def nightly(table: str = "orders") -> None:
    with when(is_large(table)):
        large = train_large(table)
    with otherwise():
        small = train_small(table)
    publish(either(large, small))
