"""Loops and lists without an end, which would not come to one while compiling either."""

import itertools

from flowdsl import fan_out, grid, maximize, numbers, pipeline, step, sweep, uniform


@step(image="python:3.12-slim")
def improve(score: float) -> float:
    return score * 1.1


@step(image="python:3.12-slim")
def train(seed: int, rate: float) -> float:
    return rate / (seed + 1)


@pipeline
def tuned() -> float:
    score = 0.5
    while True:
        try:
            score = improve(score)
        except Exception:
            break
    return score


@pipeline
def nightly() -> None:
    tuned()
    fan_out(improve, over={"score": itertools.count()})
    fan_out(train, over=grid(seed=range(1_000), rate=range(1_000)))
    fan_out(improve, over={"score": numbers(10**30)})
    rate = uniform(0, 1)
    sweep(train, over={"seed": itertools.count(), "rate": rate}, trials=9, objective=maximize())
    sweep(train, over={"seed": range(9), "rate": rate}, trials=10**9, objective=maximize())
    for number in itertools.count():
        improve(number)
