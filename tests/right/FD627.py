from flowdsl import NewVolume, pipeline, step

WORK = NewVolume("work", "10Gi", mode="ReadWriteOnce")


@step(image="python:3.12-slim", mounts={"/work": WORK})
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
