"""A pipeline that runs by a schedule, in a time zone, with what happens to late and overlapping runs."""

from flowdsl import command, container, pipeline


# When the run was due is a variable that only runs of a schedule have: it is put there as it stands.
@container(
    image="busybox",
    argo={"container": {"args": ["🕓 hello world. Scheduled on: {{workflow.scheduledTime}}"]}},
)
def hello_world_with_time() -> None:
    command("echo")


@pipeline(
    schedule="* * * * *",
    timezone="America/Los_Angeles",
    concurrency="Replace",
    keep_succeeded=4,
    keep_failed=4,
    argo={"cron": {"startingDeadlineSeconds": 0}},  # however late
)
def hello_world() -> None:
    hello_world_with_time()
