from _steps import clean

from flowdsl import step


@step(image="python:3.12-slim")
def train(n: int) -> int:
    return clean(n)
