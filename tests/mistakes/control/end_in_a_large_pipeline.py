from flowdsl import on_failure, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    for size in range(200):
        loss = train(size)
    with on_failure(loss):
        tell("the last one failed")
