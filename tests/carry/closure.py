from flowdsl import step


def make(scale: int):
    offset = 3

    def helper() -> int:
        return offset

    @step(image="python:3.12-slim")
    def train(n: int) -> int:
        return n * scale + helper()

    return train


train = make(2)
