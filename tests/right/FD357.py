from flowdsl import Retry, Torch, pipeline, step


@step(image="python:3.12-slim", distributed=Torch(workers=4), retries=Retry(2), timeout="6h", shm="8Gi")
def train() -> None:
    print("training")


@pipeline
def nightly() -> None:
    train()
