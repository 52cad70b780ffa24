"""Floats in text that Argo would write in its own way."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def curve(lr: float) -> list[float]:
    return [lr, lr / 2]


@step(image="python:3.12-slim")
def train(lr: float) -> float:
    return 1 - lr


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    losses = fan_out(train, over={"lr": [0.1, 0.2]})
    loss = train.options(name="last")(0.3)
    report.options(name="first")(f"no mistake: {losses[0]}")
    report.options(name="curve")(f"first: {curve(0.1)[0]}")
    report.options(name="half")(f"half: {loss / 2}")
