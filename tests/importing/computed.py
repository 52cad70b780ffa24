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


@container(image="busybox:1.37.0")
def half(m: float) -> None:
    command("echo", m)


@pipeline
def d_each(item: int) -> None:
    half.options(name="d")(m=item / 2)


@container(image="busybox:1.37.0")
def name(m: str) -> None:
    command("echo", m)


@pipeline
def e_each(item: str, base: str) -> None:
    name.options(name="e")(m=f"{item}/{base}-{base}{{")


@pipeline
def computed(base: str = "raw", count: int = 3) -> None:
    fan_out(b_each.options(name="b"), over={"item": [0, 1, 2]})
    fan_out(c_each.options(name="c"), over={"item": [4, 5]})
    fan_out(d_each.options(name="d"), over={"item": [4, 5]})
    fan_out(e_each.options(name="e"), over={"item": ["x", "y z"]}, base=base)
    name.options(name="f")(m=f"{(count * 2) + 1}/{base}")
