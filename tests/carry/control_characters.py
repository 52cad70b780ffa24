from flowdsl import step

BELL = ""


@step(image="python:3.12-slim")
def train(n: int) -> str:
    return BELL + "ü[31m"
