"""The pipeline `ranges`."""

from flowdsl import command, container, fan_out, numbers, pipeline, when


@container(image="python:3.12-slim")
def count() -> int:
    source = """
        print(3)
    """
    return command("python3", source=source, stdout=True)


@container(image="busybox:1")
def say(m: str) -> None:
    command("echo", m)


@pipeline
def a_each(item: int) -> None:
    say.options(name="a")(m=f"a{item}")


@pipeline
def b_each(item: int) -> None:
    say.options(name="b")(m=f"b{item + 1}")


@pipeline
def c_each(item: int) -> None:
    say.options(name="c")(m=f"{item + 8}")


@pipeline
def d_each(item: int, last: int) -> None:
    with when(item - 1 > 1):
        say.options(name="d")(m=f"d{item - 1} of {last}")


@container(image="python:3.12-slim")
def square(num: int) -> None:
    source = """
        import ast
        import os
        print(ast.literal_eval(os.environ["NUM"]) ** 2)
    """
    command("python3", source=source, env={"NUM": num})


@pipeline
def e_each(item: int) -> None:
    square.options(name="e")(num=item + 2)


@pipeline
def ranges(last: int = 3) -> None:
    count_ = count()
    fan_out(a_each.options(name="a", after=[count_]), over={"item": numbers(last + 1)})
    fan_out(b_each.options(name="b", after=[count_]), over={"item": numbers(last)})
    fan_out(c_each.options(name="c"), over={"item": numbers(count_)})
    fan_out(
        d_each.options(name="d", after=[count_]),
        over={"item": numbers(last + 2)},
        last=last,
    )
    fan_out(e_each.options(name="e"), over={"item": numbers(count_ - 1)})
