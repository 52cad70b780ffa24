"""A step whose image knows what to run."""

from flowdsl import command, container, pipeline


@container(image="argoproj/argosay:v2", argo={"container": {"command": None, "args": None}})
def a() -> None:  # flowdsl: ignore[FD551]
    command("/argosay")


@pipeline
def steps_inline_workflow() -> None:
    a()
