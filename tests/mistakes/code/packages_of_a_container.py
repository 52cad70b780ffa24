"""Python packages for a container step."""

from flowdsl import command, container, pipeline


@container(image="busybox:1.36", packages=["numpy==2.1"])
def notify(rows: int) -> None:
    command("echo", rows)


@pipeline
def nightly() -> None:
    notify(3)
