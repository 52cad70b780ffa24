from flowdsl import on_failure, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@pipeline
def part() -> float:
    return train(1)


@pipeline
def nightly() -> None:
    loss = part()
    with on_failure(loss):
        train(0)
