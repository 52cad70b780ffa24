from flowdsl import Torch, pipeline, step


@step(image="python:3.12-slim", distributed=Torch(workers=4))
def train() -> float:
    return 0.9


@pipeline
def nightly() -> float:
    return train()
