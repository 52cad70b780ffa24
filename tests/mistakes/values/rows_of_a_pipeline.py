"""The results of a loop that a called pipeline returns, in a choice."""

from flowdsl import either, fan_out, pipeline, step, when


@step(image="python:3.12-slim")
def keep(x: int) -> int:
    return x


@step(image="python:3.12-slim")
def show(x: list[int]) -> str:
    return repr(x)


@pipeline
def part(k: int) -> list[int]:
    return fan_out(keep, over={"x": [k, 2]})


@pipeline
def main(n: int = 5) -> str:
    with when(n > 1):
        a = part(n)
    return show(either(a, [1]))
