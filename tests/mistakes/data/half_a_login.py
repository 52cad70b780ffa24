"""One half of a login."""

from pathlib import Path

from flowdsl import S3, Secret, pipeline, step

KEY = Secret("minio", "access")


@step(image="python:3.12-slim")
def use(file: Path) -> None:
    print(file)


@pipeline
def nightly() -> None:
    use(S3("raw/reviews.txt", "datasets", access_key=KEY))
