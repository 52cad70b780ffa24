"""`and`, `or`, `not`, a chain of comparisons and a conditional expression."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 10


@step(image="python:3.12-slim")
def check(model: str) -> bool:
    return model.islower()


@step(image="python:3.12-slim")
def publish(model: str) -> None:
    print(model)


@pipeline
def nightly(model: str = "resnet", force: bool = False) -> None:
    score = evaluate(model)
    valid = check(model)
    with when(valid and score > 0.9):
        publish.options(name="both")(model)
    with when(score > 0.9 or force):
        publish.options(name="one")(model)
    with when(not valid):
        publish.options(name="invalid")(model)
    with when(0.5 < score < 0.9):
        publish.options(name="between")(model)
    with when(score in [0.5, 0.9]):
        publish.options(name="known")(model)
    publish.options(name="chosen")(model if force else "default")
