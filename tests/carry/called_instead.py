from flowdsl import step


def plain(n: int) -> int:
    return n + 1


ARGUMENTS = {"n": 1}
train = step(image="python:3.12-slim")(plain)
