"""Whole numbers of more than 53 bits, which JSON has as floats where Argo reads it."""

from flowdsl import fan_out, pipeline, step, when

PYTHON = "python:3.12-slim"
MORE = [2**60 + 1, 7, 2]


@step(image=PYTHON)
def numbers(size: int) -> list[int]:
    return [1827364554433221123, -size, 2**62 + 1]


@step(image=PYTHON)
def large(size: int) -> list[int]:
    return [2**70 + size, -(2**64) - 1, size]


@step(image=PYTHON)
def sizes() -> dict[str, int]:
    return {"most": 2**53 - 1, "least": -(2**53) + 1}


@step(image=PYTHON)
def take(number: int, other: int = 0) -> int:
    return number + other


@step(image=PYTHON)
def add(numbers: list[int]) -> int:
    return sum(numbers)


@pipeline
def integers(size: int = 3, more: list[int] = MORE) -> None:
    known = numbers(size)
    add(known)
    taken = fan_out(take, over={"number": known, "other": more})
    add.options(name="all")(taken)
    number = large(size)
    fan_out(take.options(name="large"), over={"number": number})
    first = take(known[0], known[-1])
    most = sizes()
    take.options(name="range")(most["most"], most["least"])
    with when(known[0] == 1827364554433221123):
        take.options(name="equal")(known[0] + 1, first)
