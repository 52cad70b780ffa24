"""Files of a template of the cluster that leave a loop, a branch and a pipeline."""

from pathlib import Path

from flowdsl import call_template, fan_out, pipeline, step, when


@call_template("library", "train", names={"return": "model"})
def train(rate: float) -> Path: ...


@step(image="python:3.12-slim")
def publish(models: list[Path]) -> None:
    print(models)


@step(image="python:3.12-slim")
def show(model: Path) -> None:
    print(model)


@pipeline
def inner(rate: float) -> Path:
    return train(rate)


@pipeline
def nightly(rate: float = 0.5) -> None:
    models = fan_out(train, over={"rate": [0.1, 0.2]})
    publish(models)
    show(inner(rate))
    with when(rate > 1):
        late = train(rate)
        show.options(name="late-one")(late)
