from flowdsl import Scratch, pipeline, step


@step(image="python:3.12-slim", memory="4Gi", shm="8Gi")
def train(rate: float) -> float:
    return rate


@step(image="python:3.12-slim", memory="4Gi", mounts={"/fast": Scratch("5Gi", memory=True)})
def score(loss: float) -> float:
    return loss


@pipeline
def nightly() -> float:
    loss = train(0.1)
    again = train.options(memory="16Gi")(loss)
    return score.options(memory=2**30, mounts={"/dev/shm": Scratch("1.5Gi", memory=True)})(again)
