"""Conditions that hold before anything has happened, and one that nobody waits for, unless the object is there."""

from flowdsl import manifest, pipeline, resource, run


@resource("apply", success="status.succeeded == 4", failure="status.failed != 0, status.phase notin (Running)")
def train() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}})


@resource("apply", failure="status.failed > 0")
def forget() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "forget"}})


@resource("create", success="status.succeeded == 1", retries=3)
def create() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "train-"}})


@resource("apply", success="status.succeeded == 1, status.failed != 1")
def one_of_two() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}})


@resource("apply", success="status.jobStatus == SUCCEEDED", failure="status.jobDeploymentStatus == Failed")
def ray(image: str) -> None:
    head = {"template": {"spec": {"containers": [{"name": "head", "image": image}]}}}
    manifest(
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayJob",
            "metadata": {"name": f"{run.name}-ray"},
            "spec": {
                "entrypoint": "python train.py",
                "shutdownAfterJobFinishes": True,
                "ttlSecondsAfterFinished": 0,  # of its cluster: the RayJob itself stays
                "rayClusterSpec": {"headGroupSpec": {"rayStartParams": {}, **head}},
            },
        }
    )


@resource("get", failure="status.phase != Bound")
def look() -> None:
    manifest({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}})


@pipeline
def nightly() -> None:
    train()
    forget()
    create()
    one_of_two()
    ray("ray:2")
    look()
