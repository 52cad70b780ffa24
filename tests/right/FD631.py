from flowdsl import Volume, fan_out, pipeline, step

MODELS = Volume("models", mode="ReadWriteOnce")


@step(image="python:3.12-slim", mounts={"/models": MODELS / "nightly"})
def train(lr: float) -> float:
    return lr


@pipeline
def nightly() -> None:
    fan_out(train, over={"lr": [0.1, 0.01, 0.001]}, parallel=1)
