from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def fit(rate: float, momentum: float, layers: int) -> int:
    return round(1000 * rate * momentum) + layers


@pipeline
def numbers(rate: float = 0.1, momentum: float = 0.9, layers: int = 2) -> int:
    return fit(rate, momentum, layers)


@pipeline
def a_pipeline_whose_name_is_too_long_for_katib(rate: float) -> int:
    return fit(rate, 0.9, 2)


@pipeline
def folded(rate: float, folds: int) -> int:
    return fit(rate, 0.9, folds)
