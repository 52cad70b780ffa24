from flowdsl import manifest, pipeline, resource, run


@resource("apply", success="status.succeeded == 1", failure="status.failed > 0")
def train() -> None:
    manifest(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": f"{run.name}-train"},
            "spec": {
                "ttlSecondsAfterFinished": 60,
                "template": {
                    "spec": {
                        "restartPolicy": "Never",
                        "containers": [{"name": "main", "image": "trainer:2"}],
                    },
                },
            },
        }
    )


@pipeline
def nightly() -> None:
    train()
