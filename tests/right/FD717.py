from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def train(size: int) -> float:
    return size / 2


@step(image="python:3.12-slim")
def tell(losses: list[float]) -> None:
    print(losses)


@pipeline
def nightly() -> None:
    losses = fan_out(train, over={"size": [1, 2, 3]}, keep_going=True)
    tell(losses)
