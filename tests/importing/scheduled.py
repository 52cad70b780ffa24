"""The pipeline `daily`."""

from flowdsl import command, container, pipeline, run


@container(image="a:1")
def a(x: str) -> None:
    command("echo", x)


@pipeline(schedule="@daily")
def daily(
    day: str = run.scheduled_time,
    out: str = f"s3://b/{run.name}/{run.namespace}",
) -> None:
    a(x=day)
    a.options(name="b")(x=f"{out} {run.scheduled_time}")
