from flowdsl import Mutex, pipeline, step


@step(image="python:3.12-slim")
def train() -> None: ...


@pipeline(locks=[Mutex("gpu")])
def nightly() -> None:
    train()
