"""One pipeline reached in two ways, and texts that look like no value at all."""

from flowdsl import either, fan_out, pipeline, step, when

PYTHON = "python:3.12-slim"


@step(image=PYTHON)
def write(number: int) -> str:
    return f"n{number}"


@step(image=PYTHON)
def find(word: str) -> str | None:
    return word or None


@step(image=PYTHON)
def join(words: list[str]) -> str:
    return ";".join(words)


@step(image=PYTHON)
def show(text: str, more: str, made: str) -> str:
    return f"{text} {more} {made}"


@pipeline
def inner(number: int) -> str:
    return write(number)


@pipeline
def outer(number: int) -> str:
    return inner(number)


@pipeline
def ways(word: str = "x", big: bool = False) -> None:
    nested = fan_out(outer, over={"number": [3, 4]})
    join(nested)
    straight = fan_out(inner, over={"number": [5, 6]})
    join.options(name="again")(straight)
    with when(big):
        number = write(1)
    found = find(word)
    show(either(found, "null"), f"<{either(found, 'null')}>", either(f"[{number}]", "none"))
