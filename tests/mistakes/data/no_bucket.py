"""An endpoint without a bucket."""

from pathlib import Path

from flowdsl import S3, pipeline, step


@step(image="python:3.12-slim")
def use(file: Path) -> None:
    print(file)


@pipeline
def nightly() -> None:
    use(S3("raw/reviews.txt", endpoint="minio:9000"))
