"""Options that do not exist: misspelt, or known from elsewhere."""

from flowdsl import pipeline, step


@step(imagee="python:3.12-slim")
def misspelt(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu_flag="nvidia.com/gpu")
def gpu_flag(lr: float) -> None:
    print(lr)


@pipeline(entrypiont="misspelt", generateName="nightly-", schedule_every="every day")
def nightly() -> None:
    misspelt.options(argumnts={"lr": 0.1})(0.1)
    gpu_flag(0.1)
