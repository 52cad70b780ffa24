from flowdsl import step

ARGUMENTS = {"n": 4}


@step(image="python:3.12-slim")
def train(n: int) -> int:
    return 1 if n == 0 else n * train(n - 1)
