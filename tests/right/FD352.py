from flowdsl import fan_out, on_exit, on_failure, pipeline, step


@step(image="python:3.12-slim")
def train(rows: int) -> float:
    return 1.0 / rows


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly(rows: int = 1000) -> None:
    loss = train.options(may_fail=True)(rows)
    with on_failure(loss):
        tell("no rows")
    losses = fan_out(
        train.options(name="several"),
        over={"rows": [1, 2]},
    )
    with on_exit(losses):
        tell.options(name="trained")("all trained")
