"""Parts of options that are None, as if they were not said, and a mode that only the run knows."""

from flowdsl import InitContainer, NewVolume, Sidecar, pipeline, run, step

WORK = NewVolume("work", "1Gi", mode=run.name)


@step(
    image="python:3.12-slim",
    sidecars=[Sidecar("cache", image="redis:8", command=None, mirror=None)],
    init=[InitContainer("fetch", image="alpine:3.22", command=["true"], mirror=None)],
    mounts={"/work": WORK},
)
def load() -> None:
    print("loading")


@pipeline
def nightly() -> None:
    load()
