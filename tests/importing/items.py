"""The pipeline `items`."""

from flowdsl import command, container, fan_out, pipeline, when


@container(image="busybox:1")
def say(m: str) -> None:
    command("echo", m)


@pipeline
def a_each(item: int) -> None:
    with when(item > 9):
        say.options(name="a")(m=f"a{item}")


@pipeline
def b_each(item: int) -> None:
    with when(item > 9):
        say.options(name="b")(m=f"b{item}")


@pipeline
def c_each(item: int, lim: int) -> None:
    with when(item > lim):
        say.options(name="c")(m=f"c{item}")


@pipeline
def e_each(item: str) -> None:
    with when(item != "b"):
        say.options(name="e")(m=f"e{item}")


@pipeline
def items(lim: int = 9) -> None:
    a = fan_out(a_each, over={"item": [2, 5, 10, 30]})
    b = fan_out(b_each.options(after=[a]), over={"item": [8, 9, 10, 11]})
    c = fan_out(c_each.options(after=[b]), over={"item": [2, 10]}, lim=lim)
    fan_out(e_each.options(name="e", after=[c]), over={"item": ["a", "b"]})
