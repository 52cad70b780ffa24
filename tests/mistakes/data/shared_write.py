"""Steps that write to one ReadWriteOnce claim: two that do not wait for each other, among several that do."""

from flowdsl import NewVolume, Volume, otherwise, pipeline, step, when

WORK = NewVolume("work", "100Gi")
DATA = Volume("datasets", mode="ReadWriteOnce")


@step(image="python:3.12-slim", mounts={"/work": WORK})
def prepare(part: str) -> int:
    return len(part)


@step(image="python:3.12-slim", mounts={"/work": WORK, "/data": DATA.ro})
def train(size: int) -> float:
    return 1.0 / size


@step(image="python:3.12-slim", mounts={"/data": DATA.ro})
def look(size: int) -> None:
    print(size)


@pipeline
def nightly(full: bool = False) -> None:
    size = prepare("all")
    look(size)
    with when(full):
        train.options(name="long")(size)
    with otherwise():
        train.options(name="short")(size)
    prepare.options(name="other")("half")
