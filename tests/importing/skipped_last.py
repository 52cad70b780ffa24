"""The pipeline `skipped_last`."""

from flowdsl import command, container, pipeline, when


@container(image="busybox:1.37.0")
def bad() -> None:
    command("false")


@container(image="busybox:1.37.0")
def ok() -> None:
    command("true")


@pipeline
def skipped_last(go: int = 1) -> None:
    try_ = bad.options(may_fail=True)()
    with when(go == 1):
        ok.options(name="more", after=[try_])()
