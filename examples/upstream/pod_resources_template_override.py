"""What whole pods may use: for all of a run, and more for one step and the container beside it."""

from flowdsl import Sidecar, command, container, pipeline

HELPER = Sidecar("helper", image="busybox", command=["sh", "-c", "sleep 10"])


@container(image="busybox")
def small() -> None:
    command("echo", "small step")


@container(
    image="busybox", sidecars=[HELPER], argo={"podResources": {"limits": {"cpu": "2", "memory": "1Gi"}}}
)
def large() -> None:
    command("sh", "-c", "sleep 5; echo large step")


@pipeline(argo={"podResources": {"limits": {"cpu": "1", "memory": "512Mi"}}})
def pod_resources() -> None:
    first = small()
    large.options(after=[first])()
