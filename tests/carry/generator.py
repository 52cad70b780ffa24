from flowdsl import step


@step(image="python:3.12-slim")
def train(n: int) -> list[int]:
    yield n
