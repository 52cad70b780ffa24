"""Several files as one word of a command."""

from pathlib import Path

from flowdsl import S3, command, container, output, pipeline


@container(image="busybox:1.37.0")
def merge(parts: list[Path]) -> Path:
    return command("merge", parts, output(), env={"PARTS": parts})


@pipeline
def main() -> Path:
    return merge([S3("a.csv"), S3("b.csv")])
