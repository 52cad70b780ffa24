"""The results of loops whose items are known, taken apart by Python: unpacked, cut, counted and added up."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import fan_out, grid, pipeline, step, when

PYTHON = "python:3.12-slim"


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image=PYTHON)
def train(rate: float) -> Trained:
    model = Path("model")
    model.write_text(f"of {rate}")
    return Trained(model, rate / 2)


@step(image=PYTHON)
def size(name: str, factor: int) -> int:
    return len(name) * factor


@step(image=PYTHON)
def fold(number: int) -> tuple[str, int]:
    return "ab"[number], number


@step(image=PYTHON)
def show(model: Path, others: list[Path], mean: float) -> str:
    return f"{model.read_text()} {[one.read_text() for one in others]} {mean}"


@pipeline
def part(base: int) -> list[int]:
    return fan_out(size, over={"name": ["a", "bb"]}, factor=base)


@pipeline
def unpacked(rates: list[float] = [0.25], least: float = 0.1) -> None:  # noqa: B006
    first, *others = fan_out(train, over={"rate": [0.5, rates[0], 1.0]})
    sizes = fan_out(size, over=grid(name=["a", "bb"], factor=[1, 10]))
    (letter, zero), (other, one) = fan_out(fold, over={"number": range(2)})
    with when(first.loss > least):
        show(first.model, [each.model for each in others], sum(sizes) / len(sizes))
    size.options(name="odd")("odd", sum(sizes[1::2]) + 2 * next(reversed(sizes)))
    for name, nested in zip((letter, other), fan_out(part, over={"base": [1, 3]}), strict=True):
        size(name, nested[1] + zero + one)
