from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def price(amount: float) -> str:
    sign = "$$" if amount > 1 else "$"
    return f"{amount:.2f} {sign}"


@pipeline
def nightly() -> None:
    price(5.0)
