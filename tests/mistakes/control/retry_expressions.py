from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim", retries=Retry(2, expression="(asInt(lastRetry.exitCode) > 1"))
def bracket() -> None: ...


@step(image="python:3.12-slim", retries=Retry(2, expression="asInt(lastRetry.exitcode) > 1"))
def misspelt() -> None: ...


@pipeline
def expressions() -> None:
    bracket()
    misspelt()
