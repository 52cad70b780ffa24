from flowdsl import Scratch, pipeline, step


@step(image="python:3.12-slim", memory="16Gi", shm="8Gi")
def train(rate: float) -> float:
    return rate


@step(image="python:3.12-slim", memory="4Gi", mounts={"/fast": Scratch("4Gi", memory=True)})
def score(loss: float) -> float:
    return loss


@pipeline
def nightly() -> float:
    return score(train(0.1))
