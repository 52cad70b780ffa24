"""A Job of Kubernetes that a step makes and waits for, and what is read off it."""

from typing import NamedTuple

from flowdsl import manifest, pipeline, resource

PROGRAM = "import random; import time; print(random.randint(1, 1000)); time.sleep(10)"


class Made(NamedTuple):
    job_name: str
    job_obj: str


@resource(
    "create",
    success="status.succeeded > 2",
    failure="status.failed > 1",
    argo={"resource": {"setOwnerReference": True}},
)
def rand_num() -> Made:
    worker = {"name": "rand", "image": "python:alpine3.23", "command": ["python", "-c", PROGRAM]}
    return manifest(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"generateName": "rand-num-"},
            "spec": {
                "completions": 3,
                "parallelism": 3,
                "template": {
                    "metadata": {"name": "rand"},
                    "spec": {"containers": [worker], "restartPolicy": "Never"},
                },
            },
        },
        outputs={"job_name": "{.metadata.name}", "job_obj": "."},
    )


@pipeline
def k8s_jobs() -> None:
    rand_num()
