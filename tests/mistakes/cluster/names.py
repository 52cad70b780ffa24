"""What the profile of the cluster does not have."""

from flowdsl import GPU, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, gpu=1, pool="gpu_new")
def train(rate: float) -> float:
    return 1 - rate


@step(image=IMAGE, gpu=GPU(1, product="A100*"), queue="nightli")
def tune(rate: float) -> float:
    return 1 - rate


@step(image=IMAGE, gpu=GPU(1, product=["A100-80GB", "B*"]), spot=True)
def judge(loss: float) -> None:
    print(loss)


@pipeline
def nightly() -> None:
    judge(train(0.1))
    judge.options(gpu=1, spot=False, name="again", queue="weekly")(tune(0.1))
