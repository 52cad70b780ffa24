"""A step whose image knows what to run."""

from flowdsl import command, container, pipeline


@container(image="argoproj/argosay:v2", argo={"container": {"command": None, "args": None}})
def a() -> None:
    command("/argosay")


@pipeline
def steps_inline_workflow() -> None:
    a()
