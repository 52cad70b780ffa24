"""Blocks that are left as if the condition were asked while the body runs."""

from contextlib import nullcontext

import flowdsl
from flowdsl import on_exit, pipeline, step, when


@step(image="python:3.12-slim")
def tune(loss: float) -> float:
    return loss / 2


@step(image="python:3.12-slim")
def tell(loss: float) -> None:
    print(loss)


def halved(loss: float) -> float | None:
    with flowdsl.when(loss > 4.0):
        return tune.options(name="halve")(loss)


@pipeline
def nightly(loss: float = 1.0) -> float:
    halved(loss)
    for goal in [1.0, 0.5]:
        with when(loss < goal):
            for name in ["loss", "goal"]:
                if name == "goal":
                    break
                tell.options(name=f"tell-{goal}")(loss)
            continue
        tell.options(name=f"far-{goal}")(goal)
    with on_exit():
        tell.options(name="end")(1.0)
        if goal > 1.0:
            return loss
    with when(loss < 0.1), nullcontext():
        return loss
    with nullcontext():
        if goal > 2.0:
            return tune(goal)
    return tune(loss)
