from flowdsl import pipeline, step


@step(image="python:3.12-slim", timeout="1h", service_account="loader")
def load() -> int:
    return 3


@pipeline(parallelism=2)
def loading() -> int:
    return load()


@pipeline(priority="high")
def nightly() -> int:
    return loading()
