from flowdsl import step

count = 0


def helper() -> None:
    global cache
    cache = 1


@step(image="python:3.12-slim")
def train(n: int) -> int:
    global count
    count += n
    helper()
    return count
