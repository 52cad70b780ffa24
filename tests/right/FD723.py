from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def publish(size: int) -> None:
    print(size)


@pipeline
def nightly() -> None:
    publish.options(may_fail=True)(3)
