"""A sidecar without its image, in a file that imports other companions too."""

from flowdsl import InitContainer, Sidecar, pipeline, step

PREPARE = InitContainer("prepare", image="busybox:1.37", command=["true"])


@step(image="python:3.12-slim", init=[PREPARE], sidecars=[Sidecar("log", command=["tail"])])
def train(rows: int) -> int:
    return rows


@pipeline
def main(rows: int = 1) -> int:
    return train(rows)
