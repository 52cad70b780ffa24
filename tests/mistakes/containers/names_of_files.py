"""An output and a path that are named by something else than a text."""

from pathlib import Path

from flowdsl import Volume, command, container, output, pipeline


@container(image="busybox:1.37.0")
def split(table: Path) -> int:
    return command("split", table, output(), paths={"table": ["/in"]})


@container(image="busybox:1.37.0")
def count() -> int:
    return command("cp", "/etc/hostname", output(container))


@pipeline
def nightly() -> None:
    split(Volume("data") / "table.csv")
    count()
