from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 10


@pipeline
def trial(model: str = "resnet") -> tuple[float, str]:
    return evaluate(model), model


@pipeline
def forgotten(model: str = "resnet") -> float:
    return evaluate(model)
