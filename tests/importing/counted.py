"""The pipeline `counted`."""

from flowdsl import command, container, fan_out, numbers, pipeline, when


@container(image="busybox:1.37.0")
def say(message: str) -> None:
    command("echo", message)


@pipeline
def each_each(item: int) -> None:
    say.options(name="each")(message=f"{item}")


@pipeline
def host_each(item: int) -> None:
    say.options(name="host")(message=f"host-{item}")


@pipeline
def others_each(item: int) -> None:
    with when(item != 1):
        say.options(name="others")(message=f"{item}")


@pipeline
def counted(count: int = 3) -> None:
    each = fan_out(each_each, over={"item": numbers(count)})
    host = fan_out(host_each.options(after=[each]), over={"item": numbers(count)})
    others = fan_out(others_each.options(after=[host]), over={"item": numbers(count)})
    say.options(name="end", after=[others])(message="all said")
