"""`try` around the calls of steps, as if they ran while the body does."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def train(rows: int) -> float:
    return 1.0 / rows


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly(rows: int = 1000) -> None:
    try:
        train(rows)
    except ZeroDivisionError:
        tell("no rows")
    try:
        fan_out(
            train.options(name="several"),
            over={"rows": [1, 2]},
        )
    finally:
        tell("all trained")
