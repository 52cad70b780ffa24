from flowdsl import Mutex, pipeline, step


@step(image="python:3.12-slim", locks=[Mutex("gpu")])
def train() -> None: ...


@pipeline
def part() -> None:
    train()


@pipeline(locks=[Mutex("gpu")])
def nightly() -> None:
    part()


@pipeline(locks=[Mutex("disk")])
def inner() -> None:
    train.options(locks=[Mutex("disk")])()


@pipeline
def weekly() -> None:
    inner()
