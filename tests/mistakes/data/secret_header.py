"""A Secret as a header of a request."""

from pathlib import Path

from flowdsl import Http, Secret, pipeline, step

TOKEN = Secret("hub", "token")


@step(image="python:3.12-slim")
def use(file: Path) -> None:
    print(file)


@pipeline
def nightly() -> None:
    use(Http("https://example.com/reviews.txt", headers={"Authorization": TOKEN}))
