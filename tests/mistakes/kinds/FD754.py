"""A path for a file that lies on a volume."""

from pathlib import Path

from flowdsl import Volume, command, container, pipeline

DATA = Volume("datasets")


@container(image="busybox:1.37.0")
def count(text: Path) -> None:
    command("wc", "/in/text", paths={"text": "/in/text"})


@pipeline
def nightly() -> None:
    count(DATA / "orders.txt")
