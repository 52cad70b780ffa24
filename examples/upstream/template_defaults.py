"""What holds for all templates of a run."""

from flowdsl import command, container, pipeline

DEFAULTS = {"timeout": "30s", "retryStrategy": {"limit": "2"}}


@container(image="busybox")
def hello_world() -> None:
    command("echo", "hello world")


@container(image="python:alpine3.23")
def retry_backoff() -> None:
    script = "import random; import sys; exit_code = random.choice([0, 1, 1]); sys.exit(exit_code)"
    command("python", "-c", script)


@pipeline(argo={"templateDefaults": DEFAULTS})
def template_defaults() -> None:
    tried = retry_backoff()
    hello_world.options(after=[tried])()
