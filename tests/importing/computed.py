"""The pipeline `computed`."""

from flowdsl import command, container, fan_out, pipeline


@container(image="busybox:1.37.0")
def say(m: int, k: int) -> None:
    command("echo", f"{m}-{k}")


@pipeline
def b_each(item: int) -> None:
    say.options(name="b")(m=item * 10, k=(item * 10) + 10)


@pipeline
def c_each(item: int) -> None:
    say.options(name="c")(m=item * 2, k=item)


@pipeline
def computed() -> None:
    fan_out(b_each.options(name="b"), over={"item": [0, 1, 2]})
    fan_out(c_each.options(name="c"), over={"item": [4, 5]})
