"""A part of a run holds a lock that its tasks wait for; it is called in two ways, and told once."""

from flowdsl import Mutex, pipeline, step


@step(image="python:3.12-slim", locks=[Mutex("card")])
def train_model(rate: float) -> float:
    return 1 - rate


@pipeline(locks=[Mutex("card")])
def one_trial(rate: float) -> float:
    return train_model(rate)


@pipeline
def nightly(rate: float = 0.1) -> float:
    first = one_trial(rate)
    second = one_trial.options(retries=2)(first)
    return second
