"""A file whose text stands in the pipeline."""

from pathlib import Path

from flowdsl import Raw, command, container, pipeline

TEXT = """\
this is
the raw file
contents
"""


@container(image="alpine:3.23")
def show(myfile: Path) -> None:
    command("sh", "-c", "cat /tmp/file", paths={"myfile": "/tmp/file"})


@pipeline
def input_artifact_raw() -> None:
    show(Raw(TEXT))
