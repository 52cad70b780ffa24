"""Loops over a number of items that a step finds, items that may fail, loops in loops."""

from flowdsl import failed, fan_out, grid, maximize, numbers, pipeline, step, sweep, when

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def split(rows: int) -> int:
    return rows // 100


@step(image=IMAGE)
def work(part: int, scale: int = 1) -> float:
    return part * scale / 2


@step(image=IMAGE)
def clean(part: int) -> None:
    print(part)


@step(image=IMAGE)
def again(parts: list[int], results: list[float]) -> None:
    print(parts, results)


@step(image=IMAGE)
def total(results: list[float]) -> float:
    return sum(results)


@pipeline
def inner(scale: int, parts: int) -> float:
    results = fan_out(work, over={"part": numbers(parts)}, keep_going=True, scale=scale)
    again(failed(results), results)
    return total(results)


@pipeline
def items(rows: int = 1000) -> float:
    parts = split(rows)
    results = fan_out(work, over={"part": numbers(parts + 1)}, parallel=10, keep_going=True)
    again.options(name="second")(failed(results), results)
    fan_out(work.options(name="repeat"), over={"part": failed(results)})
    cleaned = fan_out(clean, over={"part": range(3)}, keep_going=True)
    with when(failed(cleaned)[0] > 0):
        again.options(name="third")(failed(cleaned), results)
    trials = sweep(work, over={"part": range(4)}, objective=maximize(), scale=2)
    again.options(name="fourth")(failed(trials.results), trials.results)
    nested = fan_out(inner, over=grid(scale=[1, 2], parts=[3, 4]))
    again.options(name="fifth")(numbers(3), nested)
    return total(nested)
