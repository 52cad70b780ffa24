from flowdsl import step


@step(image="python:3.12-slim")
def fit(n: int) -> int:
    return 0 if n == 0 else fit(n - 1)


train = fit


@step(image="python:3.12-slim")
def fit(n: int) -> int:
    return n
