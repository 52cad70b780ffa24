from flowdsl import step

ARGUMENTS = {}
type = "lstm"
float = 2.5


def filter(value):
    return value


@step(image="python:3.12-slim")
def train() -> str:
    return type + str(filter(float)) + str(len("x")) + __name__[:0]
