from pathlib import Path

from flowdsl import Http, command, container, pipeline


@container(image="busybox:1.37.0")
def compare(one: Path, other: Path) -> None:
    command("cmp", "/in/one", "/in/other", paths={"one": "/in/one", "other": "/in/other"})


@pipeline
def nightly() -> None:
    compare(Http("https://example.com/one"), Http("https://example.com/other"))
