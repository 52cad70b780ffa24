"""Jobs that are gone before they are seen, and jobs of Kubeflow with fields in the wrong place."""

from flowdsl import manifest, pipeline, resource, run


@resource("apply", success="status.succeeded == 1")
def train() -> None:
    manifest(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": f"{run.name}-train"},
            "spec": {"ttlSecondsAfterFinished": 0, "template": {}},
        }
    )


@resource("apply", success="status.replicaStatuses.Master.succeeded == 1")
def distribute(image: str) -> None:
    template = {"spec": {"containers": [{"name": "pytorch", "image": image}]}}
    manifest(
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": {"name": f"{run.name}-train"},
            "spec": {
                "backoffLimit": 3,
                "nprocPerNode": 2,
                "pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": template}},
            },
        }
    )


@pipeline
def nightly() -> None:
    train()
    distribute("trainer:2")
