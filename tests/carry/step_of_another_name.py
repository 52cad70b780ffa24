from flowdsl import step


@step(image="python:3.12-slim")
def fit(n: int) -> int:
    return n


ARGUMENTS = {"n": 1}
train = fit.options(cpu=2)
