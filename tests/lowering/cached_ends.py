"""Cached steps with retries beside tasks that run nothing: of a sweep without a user, of a task whose failure counts, of results."""

from flowdsl import fan_out, minimize, on_failure, pipeline, step, sweep, when


@step(image="python:3.12-slim", cache=True, retries=1)
def score(rate: float) -> float:
    return rate


@step(image="python:3.12-slim")
def tell(loss: float) -> None:
    print(loss)


@pipeline
def half(rate: float) -> float:
    return score(rate) / score.options(name="twice")(rate * 2)


@pipeline
def cached_ends(more: bool = False) -> list[float]:
    runs = sweep(score, over={"rate": [0.1, 0.2]}, objective=minimize(), min_success=2)
    with when(more):
        tell(runs.best)
    last = score.options(name="last")(1.0)
    with on_failure(last):
        tell.options(name="sorry")(0.0)
    return fan_out(half, over={"rate": [0.1, 0.2]})
