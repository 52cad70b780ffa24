from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", mounts={"/data": DATA})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
