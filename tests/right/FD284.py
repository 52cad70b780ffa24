from flowdsl import Scratch, Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", shm="8Gi", mounts={"/scratch": Scratch("1Gi"), "/data": DATA})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
