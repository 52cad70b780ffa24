"""Two volumes at one place, and places that are taken."""

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")
MODELS = Volume("models")


@step(image="python:3.12-slim", mounts={"/data": DATA, "/data/": MODELS, "/": DATA, "/flowdsl/in": DATA})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
