"""What `either` gives in a branch, or in one within another, chosen again further out: values, and files."""

from pathlib import Path

from flowdsl import either, otherwise, pipeline, step, when

PYTHON = "python:3.12-slim"


@step(image=PYTHON)
def loss(base: float) -> float:
    return base


@step(image=PYTHON)
def train(name: str) -> Path:
    out = Path("model.txt")
    out.write_text(name)
    return out


@step(image=PYTHON)
def show(model: Path, value: float) -> str:
    return f"{model.read_text()} {value}"


@pipeline
def best(far: bool, base: float, more: bool) -> Path:
    with when(far):
        found = loss(base)
        with when(found > 0.5):
            with when(more):
                first = train("first")
            second = train("second")
            chosen = either(first, second)
        with otherwise():
            third = train("third")
        inner = either(chosen, third)
    with otherwise():
        fourth = train("fourth")
    return either(inner, fourth)


@pipeline
def deep(far: bool = True, base: float = 0.75, more: bool = True) -> None:
    with when(far):
        found = loss(base)
        with when(found > 0.5):
            with when(more):
                high = loss(found + 10.0)
            value = either(high, found + 1.0)
    show(best(far, base, more), either(value, -2.0))
