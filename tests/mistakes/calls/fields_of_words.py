"""Fields that the run, the end of a task and a sweep do not have: all are told."""

from flowdsl import minimize, on_failure, pipeline, run, step, sweep


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    tell(run.id)
    loss = train(0.1)
    with on_failure(loss) as ended:
        tell(f"failed: {ended.message}")
    found = sweep(train, over={"rate": [0.1, 0.2]}, objective=minimize())
    tell(f"{found.best_trial}")
    tell(1)
