"""Four steps of which two wait for others without taking anything of them."""

from flowdsl import command, container, pipeline


@container(image="busybox")
def echo(message: str) -> None:
    command("echo", message)


@pipeline
def dag_multiroot() -> None:
    a = echo.options(name="a")("A")
    b = echo.options(name="b")("B")
    echo.options(name="c", after=[a])("C")
    echo.options(name="d", after=[a, b])("D")
