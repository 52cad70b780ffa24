"""A path that does not begin at the root of the container."""

from pathlib import Path

from flowdsl import Http, command, container, pipeline


@container(image="busybox:1.37.0")
def evaluate(model: Path) -> None:
    command("cat", "/opt/model", paths={"model": "opt/model"})


@pipeline
def nightly() -> None:
    evaluate(Http("https://example.com/model"))
