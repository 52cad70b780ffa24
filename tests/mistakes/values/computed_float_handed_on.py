"""Floats in texts that a called pipeline has computed, or is given as Argo has computed them."""

from typing import NamedTuple

from flowdsl import fan_out, pipeline, step


class Scores(NamedTuple):
    loss: float
    rows: int


@step(image="python:3.12-slim")
def losses(rows: int) -> list[float]:
    return [1.0]


@step(image="python:3.12-slim")
def score(rows: int) -> Scores:
    return Scores(1.0, rows)


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def half(rows: int) -> Scores:
    scores = score(rows)
    return Scores(scores.loss / 2, scores.rows)


@pipeline
def whole(rows: int) -> Scores:
    return score(rows)


@pipeline
def tell(loss: float) -> None:
    report(f"a loss of {loss}")


@pipeline
def listed(loss: float) -> None:
    report(f"one loss: {loss}")


@pipeline
def mixed(loss: float) -> None:
    report(f"one of two: {loss}")


@pipeline
def same(loss: float) -> float:
    report(f"again: {loss}")
    return loss


@pipeline
def nightly(rows: int, rate: float = 1.0) -> None:
    computed, kept = half(rows), whole(rows)
    report(f"half a loss: {computed.loss} of {computed.rows}")
    report.options(name="whole")(f"a loss: {kept.loss}, with a rate of {rate}")
    tell(kept.loss * 2)
    tell.options(name="kept")(kept.loss)
    each = fan_out(half.options(name="halves"), over={"rows": [1, 2]})
    report.options(name="first")(f"the first: {each[0].loss}")
    some = fan_out(whole.options(name="wholes"), over={"rows": [1, 2]})
    report.options(name="wholes-first")(f"the first: {some[0].loss}")
    fan_out(listed, over={"loss": losses(rows)})
    fan_out(mixed, over={"loss": [rate, 2.0]})
    once = same(kept.loss)
    twice = same(once)
    report.options(name="twice")(f"the same: {twice}")
