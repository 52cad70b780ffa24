from flowdsl import on_failure, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@pipeline
def guarded(size: int) -> None:
    loss = train(size)
    with on_failure(loss):
        train.options(name="smaller")(100)


@pipeline
def nightly() -> None:
    for size in range(200):
        train(size)
    guarded(200)
