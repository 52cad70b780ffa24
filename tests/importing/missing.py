"""The pipeline `found`."""

from pathlib import Path

from flowdsl import command, container, fan_out, pipeline


@container(image="busybox:1.37.0")
def look(make: str) -> Path | None:
    return command(
        "sh",
        "-c",
        "if [ $MAKE = yes ]; then echo x > /tmp/data; fi",
        env={"MAKE": make},
        paths={"return": "/tmp/data"},
    )


@container(image="busybox:1.37.0")
def show(data: Path | None) -> None:
    command("sh", "-c", "cat /tmp/data || true", paths={"data": "/tmp/data"})


@container(image="busybox:1.37.0")
def list_(data: Path | None = None) -> None:
    command("ls", "/tmp", paths={"data": "/tmp/data"})


@container(image="busybox:1.37.0")
def copy(data: Path | None) -> Path | None:
    return command(
        "sh",
        "-c",
        "cp /tmp/data /tmp/copy || true",
        paths={"data": "/tmp/data", "return": "/tmp/copy"},
    )


@pipeline
def inner(data: Path | None) -> Path | None:
    again = copy(data=data)
    return again


@container(image="busybox:1.37.0")
def last(data: Path | None = None) -> None:
    command("ls", "/", paths={"data": "/tmp/data"})


@container(image="busybox:1.37.0")
def two(a: str, b: str, data: Path | None) -> None:
    command("echo", a, b, "/tmp/data", paths={"data": "/tmp/data"})


@pipeline
def found(make: str = "yes") -> None:
    look_ = look(make=make)
    show.options(name="need")(data=look_)
    list_.options(name="maybe")(data=look_)
    inner_ = inner(data=look_)
    last.options(name="end")(data=inner_)
    fan_out(two.options(name="each"), over={"a": ["x"], "b": ["z"]}, data=look_)
