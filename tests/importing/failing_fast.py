"""The pipeline `failing_fast`."""

from flowdsl import command, container, pipeline


@container(image="busybox:1.37.0")
def bad() -> None:
    command("sh", "-c", "exit 1")


@container(image="busybox:1.37.0")
def ok() -> None:
    command("echo", "ok")


@pipeline
def sub() -> None:
    bad.options(name="x")()
    y = ok()
    ok.options(name="z", after=[y])()


@pipeline(
    argo={
        "templates": [
            {"name": "failing-fast", "parallelism": 1, "failFast": True},
            {"name": "sub", "failFast": True},
        ],
    },
)
def failing_fast() -> None:
    bad.options(name="a")()
    ok.options(name="b")()
    sub.options(name="c")()
