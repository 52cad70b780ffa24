"""A step that fails two times out of three, and is tried again."""

from flowdsl import Retry, command, container, pipeline


@container(image="python:alpine3.23", retries=Retry(10, policy="OnFailure"))
def flaky() -> None:
    script = "import random; import sys; exit_code = random.choice([0, 1, 1]); sys.exit(exit_code)"
    command("python", "-c", script)


@pipeline
def retry_container() -> None:
    flaky()
