from flowdsl import step


def logged(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@step(image="python:3.12-slim")
@logged
def train(n: int) -> int:
    return n
