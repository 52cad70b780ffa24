"""When the pods of a run are deleted."""

from flowdsl import command, container, pipeline


@container(image="alpine:3.23")
def fail() -> None:
    command("sh", "-c", "exit 1")


@container(image="alpine:3.23")
def succeed() -> None:
    command("sh", "-c", "exit 0")


@pipeline(pod_gc="OnPodSuccess", argo={"podGC": {"deleteDelayDuration": "30s"}})
def pod_gc_strategy() -> None:
    fail()
    succeed()
