from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str, fold: int) -> float:
    return len(model) / fold


@step(image="python:3.12-slim")
def report(score: float) -> None:
    print(score)


@pipeline
def cross_validate(model: str) -> tuple[float, float]:
    return evaluate(model, 1), evaluate(model, 2)


@pipeline
def nightly() -> None:
    first, second = cross_validate("resnet")
    report((first + second) / 2)
