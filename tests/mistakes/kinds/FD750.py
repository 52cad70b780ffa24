"""A path for an input that the step does not have."""

from pathlib import Path

from flowdsl import Http, command, container, pipeline


@container(image="busybox:1.37.0")
def evaluate(model: Path) -> None:
    command("cat", "/opt/model", paths={"modle": "/opt/model"})


@pipeline
def nightly() -> None:
    evaluate(Http("https://example.com/model"))
