"""Two steps that take too long; the run goes on."""

from flowdsl import command, container, pipeline


@container(image="alpine:3.23", timeout="10s")
def sleep() -> None:
    command("sh", "-c", "sleep 30s")


@pipeline
def step_level_timeout() -> None:
    sleep.options(name="sleep1", argo={"task": {"continueOn": {"error": True}}})()
    sleep.options(name="sleep2", argo={"task": {"continueOn": {"failed": True}}})()
