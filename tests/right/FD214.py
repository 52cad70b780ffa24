from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 7


@step(image="python:3.12-slim")
def report(score: float) -> None:
    print(f"{score:.3f}")


@pipeline
def nightly(model: str = "resnet") -> None:
    score = evaluate(model)
    report(score)
