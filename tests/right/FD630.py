from flowdsl import NewVolume, pipeline, step

WORK = NewVolume("work", "100Gi")


@step(image="python:3.12-slim", mounts={"/work": WORK})
def prepare(part: str) -> int:
    return len(part)


@step(image="python:3.12-slim", mounts={"/work": WORK})
def train(rate: float) -> float:
    return 1 - rate


@pipeline
def nightly() -> None:
    rows = prepare("all")
    train.options(after=[rows])(0.1)
