from flowdsl import step

EPOCHS = 3


@step(image="python:3.12-slim")
def train(n: int = 3) -> int:
    return EPOCH * n + np.zeros(3) + missing_in_default
