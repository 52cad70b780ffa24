"""Conditions that Python answers by identity or by a search: one mistake each."""

from flowdsl import either, pipeline, step, unless, when


@step(image="python:3.12-slim")
def check(model: str) -> bool:
    return model.islower()


@step(image="python:3.12-slim")
def labels(model: str) -> list[str]:
    return [model]


@step(image="python:3.12-slim")
def publish(model: str) -> None:
    print(model)


@pipeline
def nightly(model: str = "resnet", note: str | None = None) -> None:
    valid = check(model)
    with when(valid is True):
        publish.options(name="valid")(model)
    with unless(note is None):
        publish.options(name="noted")(model)
    with when("good" in labels(model)):
        publish.options(name="good")(model)
    publish(either(note is not None, model))
    kept = None
    if kept is None:  # no value of the run yet
        kept = check.options(name="again")(model)
    with when(kept):
        publish.options(name="kept")(model)
