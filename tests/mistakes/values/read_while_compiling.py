"""A file of the cluster, read in the body of a pipeline."""

from flowdsl import S3, Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    if (DATA / "ready").exists():
        report(S3("title.txt").read_text())


@pipeline
def hourly() -> None:
    report(S3("title.txt").read_text())
