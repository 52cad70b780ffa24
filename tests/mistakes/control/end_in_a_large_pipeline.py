from flowdsl import on_failure, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    first = train(0)
    last = first
    for size in range(200):
        last = train.options(after=[last], may_fail=size > 100)(size)
    with on_failure(first):
        tell("the first one failed")
